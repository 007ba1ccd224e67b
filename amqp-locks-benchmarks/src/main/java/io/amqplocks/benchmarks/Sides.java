package io.amqplocks.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * One operation, as the library does it and as the bare client does.
 *
 * @param ours the library; null where it has nothing yet
 * @param floor what the goal compares with
 * @param steps all steps of the library's protocol, by the bare client, where they are more than
 *     the floor: the ratio to them shows what our code adds
 */
record Sides(@Nullable Timed ours, Timed floor, @Nullable Timed steps) {

  Sides(@Nullable Timed ours, Timed floor) {
    this(ours, floor, null);
  }
}
