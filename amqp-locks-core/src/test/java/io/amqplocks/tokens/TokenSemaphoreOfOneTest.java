package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.LockContract;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class TokenSemaphoreOfOneTest extends LockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {
    locks.admin().tokenSemaphore(name).create(1, TokenQueueType.CLASSIC);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.tokenSemaphore(name);
  }

  @Override
  protected boolean isHeld(String name) throws Exception {
    LockId id = LockId.tokenSemaphore(name);
    int generation = Tokens.generation(broker(), fixture.names(), id);
    return Tokens.idle(broker(), fixture.names().tokens(id, generation)).isEmpty();
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
    assertThatThrownBy(lock::tryAcquire)
        .isInstanceOf(LockException.FenceUnavailable.class)
        .hasMessageContaining("TokenQueueType.QUORUM");
    lock(fixture.open(), "m").tryAcquire().orElseThrow().close();
  }
}
