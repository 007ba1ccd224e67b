package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class TokenSemaphoreOfOneTest extends LockContract {

  @Override
  void make(AmqpLocks locks, String name) {
    locks.admin().tokenSemaphore(name).create(1, TokenQueueType.CLASSIC);
  }

  @Override
  AmqpLock lock(AmqpLocks locks, String name) {
    return locks.tokenSemaphore(name);
  }

  @Override
  boolean isHeld(String name) throws Exception {
    LockId id = LockId.tokenSemaphore(name);
    int generation = Tokens.generation(broker(), fixture.names(), id);
    return Tokens.idle(broker(), fixture.names().tokens(id, generation)).isEmpty();
  }

  @AfterEach
  void clear(Broker broker) throws Exception {
    fixture.close();
    Tokens.clear(broker, fixture.prefix());
  }

  @Test
  @Override
  void fencedItHasTokensThatRise() {
    AmqpLock lock = lock(fixture.open(), "m").fenced();
    assertThatThrownBy(lock::tryAcquire)
        .isInstanceOf(LockException.FenceUnavailable.class)
        .hasMessageContaining("TokenQueueType.QUORUM");
    lock(fixture.open(), "m").tryAcquire().orElseThrow().close();
  }
}
