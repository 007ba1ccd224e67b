package io.amqplocks.spring.aspectj.woven;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Another process, in effect: it finds out whether somebody holds a mutex by trying it. */
final class Outside {

  private static @Nullable AmqpLocks locks;
  private static String mutex = "";

  private Outside() {}

  static void ask(AmqpLocks stranger, String name) {
    locks = stranger;
    mutex = name;
  }

  /** Waits until nobody holds the mutex of the test. A release does not wait for the broker. */
  static void awaitFree() throws InterruptedException {
    if (locks == null) {
      throw new IllegalStateException("Nobody to ask");
    }
    locks.lock(LockId.mutex(mutex)).acquire(Duration.ofSeconds(30)).close();
  }

  /** Whether the mutex of the test is held now. */
  static String held() {
    return held("");
  }

  /** Whether that of the key is, such as {@code :one}. */
  static String held(String key) {
    if (locks == null) {
      throw new IllegalStateException("Nobody to ask");
    }
    Optional<Lease> mine = locks.lock(LockId.mutex(mutex + key)).tryAcquire();
    mine.ifPresent(Lease::close);
    return mine.isPresent() ? "unguarded" : "held";
  }

  /** Whether somebody has the read lock or the write lock of the test. */
  static String readOrWritten() {
    if (locks == null) {
      throw new IllegalStateException("Nobody to ask");
    }
    int holders = locks.admin().readWriteLock(mutex).holders();
    return holders == 0 ? "unguarded" : "held";
  }
}
