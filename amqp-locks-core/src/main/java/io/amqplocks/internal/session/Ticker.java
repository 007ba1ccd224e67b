package io.amqplocks.internal.session;

/** Monotonic time in nanoseconds, of which only differences mean anything. */
@FunctionalInterface
public interface Ticker {

  /** The time of this JVM. */
  Ticker SYSTEM = System::nanoTime;

  /** The time now. */
  long nanos();
}
