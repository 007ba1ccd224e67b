package io.amqplocks.spring.internal.time;

/** Monotonic time in nanoseconds. Only differences are meaningful. */
@FunctionalInterface
public interface Ticker {

  /** The time of this JVM. */
  Ticker SYSTEM = System::nanoTime;

  /** The time now. */
  long nanos();
}
