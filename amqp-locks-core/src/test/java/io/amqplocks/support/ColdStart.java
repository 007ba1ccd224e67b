package io.amqplocks.support;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import java.time.Duration;

/**
 * The first acquisition of a process that just started: all it needs is loaded meanwhile, and that
 * may take longer than the short heartbeat of its test allows a call.
 */
final class ColdStart {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private ColdStart() {}

  /** Acquires, and tries again where the broker seemed not to answer. */
  static Lease acquire(AmqpLock lock) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        return lock.acquire(Duration.ofSeconds(20));
      } catch (LockException.Unanswered | LockException.Unreachable e) {
        if (end - System.nanoTime() < 0) {
          throw e;
        }
      }
    }
  }

  /** Connects, and tries again where the broker seemed not to answer. */
  static void connect(AmqpLocks locks) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        locks.connect();
        return;
      } catch (LockException.Unanswered | LockException.Unreachable e) {
        if (end - System.nanoTime() < 0) {
          throw e;
        }
      }
    }
  }
}
