package io.amqplocks.embedded;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.LockContract;
import io.amqplocks.test.BrokerTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@BrokerTest(embedded = true)
class EmbeddedTokenSemaphoreTest extends LockContract {

  private AmqpLocks onlooker;

  @BeforeEach
  void openOnlooker() {
    onlooker = fixture.open();
  }

  @Override
  protected void make(AmqpLocks locks, String name) {
    locks.admin().tokenSemaphore(name).create(1, TokenQueueType.CLASSIC);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.tokenSemaphore(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return onlooker.admin().tokenSemaphore(name).status().idle() == 0;
  }

  /** A token goes back by a message that nobody waits for. */
  @Override
  protected void isFree(String name) {
    await().until(() -> !isHeld(name));
  }

  @Test
  @Override
  protected void fencedItHasTokensThatRise() {
    AmqpLock lock = lock(fixture.open(), "m").fenced();
    assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockException.FenceUnavailable.class);
    lock(fixture.open(), "m").tryAcquire().orElseThrow().close();
  }
}
