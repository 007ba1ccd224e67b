package io.amqplocks.spring.internal.guard;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * What interface beans call: a server or a database says whether the lock is held while it answers.
 * Static, as H2 calls functions of Java.
 */
public final class RemoteWork {

  private static final AtomicInteger ANSWERED = new AtomicInteger();
  private static volatile BooleanSupplier held = () -> false;

  private RemoteWork() {}

  static void observe(BooleanSupplier isHeld) {
    held = isHeld;
    ANSWERED.set(0);
  }

  /** How many calls came through. */
  static int answered() {
    return ANSWERED.get();
  }

  /** Answers a call; also a function of the database. */
  public static boolean held() {
    ANSWERED.incrementAndGet();
    return held.getAsBoolean();
  }
}
