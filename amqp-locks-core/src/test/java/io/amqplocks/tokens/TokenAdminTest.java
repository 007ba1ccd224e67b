package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.is;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Token semaphores are created, measured and destroyed; their holders are plain AMQP clients. */
@BrokerTest(everyLine = true)
class TokenAdminTest extends TokenAdministered {

  @ParameterizedTest
  @EnumSource
  void isCreatedMeasuredAndDestroyed(TokenQueueType type) throws Exception {
    assertThat(admin.count()).isZero();
    admin.destroy();
    admin.create(3, type);
    assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 3, 0, 0, 0));
    Tokens.take(holder, tokens(1), 2);
    assertThat(admin.inUse()).isEqualTo(2);
    admin.create(3, type);
    assertThat(fixture.open().admin().tokenSemaphore("s").createIfAbsent(7, type)).isEqualTo(3);
    assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 1, 2, 0, 0));
    assertThatThrownBy(() -> admin.create(4, type))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("token semaphore 's'");
    TokenQueueType other =
        type == TokenQueueType.QUORUM ? TokenQueueType.CLASSIC : TokenQueueType.QUORUM;
    assertThatThrownBy(() -> admin.create(3, other)).isInstanceOf(LockException.Conflict.class);
    admin.destroy();
    assertThat(admin.status()).isEqualTo(new TokenStatus(0, 0, 0, 0, 0, 0));
    assertThat(fixture.exists(tokens(1))).isFalse();
    admin.destroy();
    // The queue's name is not used again.
    assertThat(admin.createIfAbsent(2, other)).isEqualTo(2);
    assertThat(fixture.exists(tokens(1))).isFalse();
    assertThat(fixture.exists(tokens(2))).isTrue();
    assertThat(Tokens.idle(broker, tokens(2))).hasSize(2).doesNotHaveDuplicates();
  }

  /** While another reader has the newest version of the record, an old one may be visible. */
  @Test
  void anOldRecordDoesNotMakeTokensWithdrawn() throws Exception {
    String record = fixture.names().tokenRecord(LockId.tokenSemaphore("s"));
    admin.create(2, TokenQueueType.CLASSIC);
    Channel reader = stranger.createChannel();
    GetResponse old = reader.basicGet(record, false);
    reader.basicNack(old.getEnvelope().getDeliveryTag(), false, true);
    Tokens.take(holder, tokens(1), 2);
    try (AmqpLocks other = fixture.open()) {
      var unused = other.admin().tokenSemaphore("s").resize(1);
      // From now on nobody withdraws.
    }
    await().until(() -> reader.basicGet(record, false) != null);
    assertThat(reader.messageCount(record)).isZero();
    reader.basicPublish("", record, old.getProps(), old.getBody());
    await().until(() -> reader.messageCount(record) == 1);
    assertThat(admin.awaitWithdrawn(Duration.ZERO)).isFalse();
    assertThat(admin.resize(2).after()).isEqualTo(2);
    assertThat(admin.awaitWithdrawn(Duration.ZERO)).isTrue();
  }

  /** If it stayed, a client might find it alone, and take new tokens for forged ones. */
  @Test
  void theRecordThatAReaderHasInHandDoesNotStay() throws Exception {
    String record = fixture.names().tokenRecord(LockId.tokenSemaphore("s"));
    admin.create(1, TokenQueueType.CLASSIC);
    Channel reader = stranger.createChannel();
    GetResponse old = reader.basicGet(record, false);
    CompletableFuture<SlotChange> resized = CompletableFuture.supplyAsync(() -> admin.resize(2));
    assertThatThrownBy(() -> resized.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    reader.basicNack(old.getEnvelope().getDeliveryTag(), false, true);
    assertThat(resized.get(20, TimeUnit.SECONDS)).isEqualTo(new SlotChange(1, 2));
    GetResponse there = reader.basicGet(record, false);
    assertThat(there.getMessageCount()).isZero();
    assertThat(there.getBody()).isNotEqualTo(old.getBody());
  }

  @ParameterizedTest
  @EnumSource
  void growsAndShrinks(TokenQueueType type) throws Exception {
    admin.create(2, type);
    Tokens.resizes(admin, 5, new TokenStatus(5, 5, 5, 0, 0, 0));
    assertThat(Tokens.idle(broker, tokens(1))).hasSize(5).doesNotHaveDuplicates();
    // Idle ones go at once.
    Tokens.take(holder, tokens(1), 2);
    Tokens.resizes(admin, 3, new TokenStatus(3, 3, 1, 2, 0, 0));
    Tokens.resizes(admin, 1, new TokenStatus(1, 2, 0, 2, 1, 0));
    assertThat(admin.awaitWithdrawn(Duration.ZERO)).isFalse();
    // The others as they come back, also ahead of one that waits.
    AtomicInteger delivered = new AtomicInteger();
    Channel waiter = stranger.createChannel();
    waiter.basicQos(1);
    waiter.basicConsume(tokens(1), false, (tag, message) -> delivered.incrementAndGet(), tag -> {});
    holder.basicNack(1, false, true);
    assertThat(admin.awaitWithdrawn(Duration.ofSeconds(30))).isTrue();
    // While a record is replaced, one reader may see the new one and the next one the old.
    await()
        .untilAsserted(
            () -> assertThat(admin.status()).isEqualTo(new TokenStatus(1, 1, 0, 1, 0, 0)));
    assertThat(delivered).hasValue(0);
    holder.basicNack(2, false, true);
    await().untilAtomic(delivered, is(1));
    // And nobody withdraws any more.
    await().untilAsserted(() -> assertThat(administrators()).isZero());
    assertThat(admin.status()).isEqualTo(new TokenStatus(1, 1, 0, 1, 0, 0));
  }

  private long administrators() {
    return broker.faults().connections().stream()
        .filter(name -> name.equals(fixture.prefix() + " administrator"))
        .count();
  }

  @Test
  void growingAgainCancelsWhatIsPending() throws Exception {
    admin.create(3, TokenQueueType.QUORUM);
    Tokens.take(holder, tokens(1), 3);
    assertThat(Tokens.resized(admin, 1).pendingWithdrawals()).isEqualTo(2);
    assertThat(Tokens.resized(admin, 2).pendingWithdrawals()).isEqualTo(1);
    Tokens.resizes(admin, 4, new TokenStatus(4, 4, 1, 3, 0, 0));
    holder.basicNack(3, true, true);
    await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(4));
    assertThat(Tokens.idle(broker, tokens(1))).hasSize(4).doesNotHaveDuplicates();
  }

  @Test
  void anotherProcessGrowingCancelsItToo() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Tokens.take(holder, tokens(1), 2);
    admin.resize(1);
    fixture.open().admin().tokenSemaphore("s").resize(2);
    holder.basicNack(2, true, true);
    await().untilAsserted(() -> assertThat(administrators()).isZero());
    await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(2));
  }

  @ParameterizedTest
  @EnumSource
  void aShrinkIsCarriedOnByAnyOther(TokenQueueType type) throws Exception {
    admin.create(4, type);
    Tokens.take(holder, tokens(1), 4);
    AmqpLocks first = fixture.open();
    assertThat(Tokens.resized(first.admin().tokenSemaphore("s"), 1).pendingWithdrawals())
        .isEqualTo(3);
    first.close();
    holder.basicNack(2, true, true);
    await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(2));
    assertThat(admin.status().pendingWithdrawals()).isEqualTo(3);
    assertThat(Tokens.resized(admin, 1).pendingWithdrawals()).isEqualTo(1);
    holder.basicNack(3, false, true);
    assertThat(admin.awaitWithdrawn(Duration.ofSeconds(30))).isTrue();
    // A record that is being replaced may be read old once more.
    await()
        .untilAsserted(
            () -> assertThat(admin.status()).isEqualTo(new TokenStatus(1, 1, 0, 1, 0, 0)));
  }

  @Test
  void aWithdrawalOutlivesABrokenConnection() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Tokens.take(holder, tokens(1), 2);
    admin.resize(1);
    await().until(() -> administrators() == 1);
    broker.faults().closeConnections(fixture.prefix() + " administrator", "test");
    holder.basicNack(1, false, true);
    assertThat(admin.awaitWithdrawn(Duration.ofSeconds(30))).isTrue();
  }

  @Test
  void aNumberOutOfRangeIsRefused() {
    assertThatThrownBy(() -> admin.create(0, TokenQueueType.CLASSIC))
        .isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> admin.resize(10_001)).isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> admin.resize(1)).isInstanceOf(LockException.NotFound.class);
    assertThat(Tokens.queues(broker, fixture.prefix())).isEmpty();
  }
}
