package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What who acquires sees of an administrator that moves the tokens to another queue. */
@BrokerTest(everyLine = true)
class TokenMoveTest extends TokenAdministered {

  private static final int MOVES = 2;

  /** The last queue is deleted before the record names the next one. */
  @ParameterizedTest
  @EnumSource
  void whoWaitsMeanwhileIsServedFromTheNextQueue(TokenQueueType type) throws Exception {
    admin.create(1, type);
    AmqpLock lock = locks.tokenSemaphore("s");
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      TokenSemaphoreAdmin far = through(proxy);
      for (int i = 1; i <= MOVES; i++) {
        String queue = tokens(i);
        await().until(() -> Tokens.isThere(holder.basicGet(queue, false)));
        // Of a quorum queue, whoever holds what it got counts as a consumer.
        long before = holder.consumerCount(queue);
        CompletableFuture<Lease> waits = CompletableFuture.supplyAsync(() -> acquired(lock));
        await().until(() -> holder.consumerCount(queue) > before);
        assertThat(far.repair(Duration.ZERO).repaired()).isTrue();
        waits.get(60, TimeUnit.SECONDS).close();
      }
    }
  }

  /**
   * Between two steps of the move there is no queue, for longer than an audit takes. It waits then.
   */
  @Test
  void anAuditMeanwhileIsOfTheNextQueue() throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    Tokens.take(holder, tokens(1), 1);
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      TokenSemaphoreAdmin far = through(proxy);
      CompletableFuture<TokenAudit> moves =
          CompletableFuture.supplyAsync(() -> far.repair(Duration.ZERO));
      while (!moves.isDone()) {
        assertThat(admin.audit(Duration.ZERO).surplus()).isZero();
      }
      assertThat(moves.get().repaired()).isTrue();
    }
  }

  /** Each of its steps takes longer than a waiter's pause between two attempts. */
  private TokenSemaphoreAdmin through(TcpProxy proxy) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(50));
    return fixture.open(fixture.builder(factory)).admin().tokenSemaphore("s");
  }

  private static Lease acquired(AmqpLock lock) {
    try {
      return lock.acquire(Duration.ofSeconds(30));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Whether it is slow or dead, nobody can see. */
  @Test
  void aMoveThatNobodyEndsIsToldAsOne() throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    AmqpLock lock = locks.tokenSemaphore("s");
    Fixture.first(lock).close();
    String recordQueue = fixture.names().tokenRecord(ID);
    TokenRecord made = TokenRecord.parse(Tokens.idle(broker, recordQueue).get(0)).orElseThrow();
    Fences.publish(
        broker, recordQueue, made.reserved(made.reserved() + 1, made.epoch() + 1).toString());
    fixture.delete(tokens(1));
    assertThatThrownBy(lock::tryAcquire)
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("is being moved to another queue")
        .hasMessageContaining("repair")
        .satisfies(e -> assertThat(((LockException) e).isOutage()).isFalse());
    assertThat(admin.repair(Duration.ZERO).repaired()).isTrue();
    Fixture.first(lock).close();
  }

  /** No administrator is at work. */
  @Test
  void aQueueThatWasDeletedIsNotWaitedFor() throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    AmqpLock lock = locks.tokenSemaphore("s");
    Fixture.first(lock).close();
    fixture.delete(tokens(1));
    assertThatThrownBy(() -> lock.acquire(Duration.ofSeconds(30)))
        .isInstanceOf(LockException.NotFound.class);
  }
}
