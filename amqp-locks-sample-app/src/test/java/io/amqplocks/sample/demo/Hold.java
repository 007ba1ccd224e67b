package io.amqplocks.sample.demo;

import org.jspecify.annotations.Nullable;

/**
 * A worker's hold on a slot, as the worker's log told it.
 *
 * @param slot the slot
 * @param worker the worker's number
 * @param from the {@link System#nanoTime()} at which the worker said that it had it
 * @param to the one at which it ended; null while it lasts
 * @param end how it ended; null while it lasts
 */
record Hold(int slot, int worker, long from, @Nullable Long to, @Nullable End end) {

  /** How a hold ends. */
  enum End {
    RELEASED,
    /** The worker has the same lease on another slot now; tokens may do that. */
    MOVED,
    LOST,
    KILLED
  }
}
