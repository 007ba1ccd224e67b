package io.amqplocks.internal.broker;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Monotonic time in nanoseconds. Only differences are meaningful. */
@FunctionalInterface
public interface Ticker {

  /** The time of this JVM. */
  Ticker SYSTEM = System::nanoTime;

  /** The time now. */
  long nanos();

  /**
   * The time when a wait ends that begins now. One of centuries ends in 292 years, and a negative
   * one ends now: with the shortest of them, differences would overflow.
   */
  default long after(Duration wait) {
    return nanos() + Math.max(0, TimeUnit.NANOSECONDS.convert(wait));
  }
}
