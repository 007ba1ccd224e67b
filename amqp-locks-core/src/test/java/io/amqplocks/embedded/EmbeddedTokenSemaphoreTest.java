package io.amqplocks.embedded;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.LockContract;
import io.amqplocks.test.BrokerTest;
import java.util.Optional;
import org.junit.jupiter.api.Test;

@BrokerTest(embedded = true)
class EmbeddedTokenSemaphoreTest extends LockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {
    locks.admin().tokenSemaphore(name).create(1, TokenQueueType.CLASSIC);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.tokenSemaphore(name);
  }

  /** The broker counts tokens in use as waiting in their queue, so only an acquire can tell. */
  @Override
  protected boolean isHeld(String name) {
    Optional<Lease> lease = lock(fixture.open(), name).tryAcquire();
    lease.ifPresent(Lease::close);
    return lease.isEmpty();
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
