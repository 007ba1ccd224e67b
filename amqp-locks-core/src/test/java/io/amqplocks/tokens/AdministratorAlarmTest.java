package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * What becomes of a record whose next version the broker does not take: an alarm lets nobody
 * publish.
 */
@BrokerTest(everyLine = true, ownBroker = true)
class AdministratorAlarmTest {

  @Test
  void aVersionIsNotRemovedBeforeTheNextIsWritten(Broker broker) throws Exception {
    try (Fixture fixture = new Fixture(broker)) {
      AmqpLocks locks =
          fixture.open(
              fixture
                  .builder()
                  .connectionName(fixture.prefix())
                  .callTimeout(Duration.ofSeconds(10)));
      TokenSemaphoreAdmin admin = locks.admin().tokenSemaphore("s");
      admin.create(2, TokenQueueType.QUORUM);
      broker.faults().memoryAlarm(true);
      try {
        CompletableFuture<Void> resizing = CompletableFuture.runAsync(() -> admin.resize(3));
        String writing = fixture.prefix() + " administrator";
        await().until(() -> broker.faults().connections().contains(writing));
        // It has written what it would, and the broker reads nothing of that any more.
        await().pollDelay(Duration.ofSeconds(1)).until(() -> !resizing.isDone());
        broker.faults().closeConnections(writing, "test");
        assertThatThrownBy(() -> resizing.get(60, TimeUnit.SECONDS))
            .hasCauseInstanceOf(LockException.class);
      } finally {
        broker.faults().memoryAlarm(false);
      }
      await()
          .ignoreExceptionsInstanceOf(LockException.Unanswered.class)
          .untilAsserted(() -> assertThat(Tokens.resized(admin, 4).tokens()).isEqualTo(4));
    }
  }
}
