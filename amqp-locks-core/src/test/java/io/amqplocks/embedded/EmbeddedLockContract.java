package io.amqplocks.embedded;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.LockContract;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every lock does on the broker in the JVM that works there and has one slot. */
abstract class EmbeddedLockContract extends LockContract {

  /** Looks at the locks of others. */
  protected AmqpLocks onlooker;

  @BeforeEach
  void openOnlooker() {
    onlooker = fixture.open();
  }

  @Override
  protected void make(AmqpLocks locks, String name) {}

  /** A release is not confirmed by every kind: the broker has it a moment later. */
  @Override
  protected void isFree(String name) {
    await().until(() -> !isHeld(name));
  }

  @Test
  @Override
  protected void fencedItHasTokensThatRise() throws Exception {
    AmqpLock lock = lock(fixture.open(), "m");
    assertThatThrownBy(lock.fenced()::tryAcquire)
        .isInstanceOf(LockException.FenceUnavailable.class)
        .hasMessageContaining(lock.id().toString());
    isFree("m");
    lock.tryAcquire().orElseThrow().close();
  }
}
