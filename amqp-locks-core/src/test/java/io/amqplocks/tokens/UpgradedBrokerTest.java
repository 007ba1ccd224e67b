package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Token semaphores that RabbitMQ 3.x made, on 4.x. An upgrade in place keeps the arguments of a
 * queue, so they are declared here as on 3.x: without a delivery limit, for which 4.0 and newer
 * take 20.
 */
@BrokerTest(from = "4.0")
@Tag("defect-L1")
@Tag("trap-8")
class UpgradedBrokerTest extends TokenAdministered {

  private static final Duration LONG = Duration.ofSeconds(20);

  /** Makes everything of the lock as 3.x had it. */
  private void asMadeOn3(LockId lock) throws Exception {
    QueueNames names = fixture.names();
    String tokens = names.tokens(lock, Tokens.generation(broker, names, lock));
    boolean classic = Tokens.idle(broker, names.tokenRecord(lock)).get(0).contains("classic");
    for (String queue : List.of(tokens, names.tokenRecord(lock), names.tokenLedger(lock))) {
      List<String> texts = Tokens.idle(broker, queue);
      holder.queueDelete(queue);
      String type = classic && queue.equals(tokens) ? "classic" : "quorum";
      holder.queueDeclare(queue, true, false, false, Map.of("x-queue-type", type));
      for (String text : texts) {
        Fences.publish(broker, queue, text.replaceFirst("on RabbitMQ \\d+", "on RabbitMQ 3"));
      }
    }
  }

  /** More often than a broker of 4.x bears unless it is told to. */
  private void assertOutlivesManyReturns(String queue, int messages) throws Exception {
    for (int i = 0; i < 25 * messages; i++) {
      GetResponse got =
          await()
              .pollDelay(Duration.ZERO)
              .pollInterval(Duration.ofMillis(10))
              .until(() -> holder.basicGet(queue, false), Tokens::isThere);
      holder.basicReject(got.getEnvelope().getDeliveryTag(), true);
    }
    await().untilAsserted(() -> assertThat(Tokens.idle(broker, queue)).hasSize(messages));
  }

  private void assertAllOutliveManyReturns(LockId lock, int slots) throws Exception {
    QueueNames names = fixture.names();
    int generation = Tokens.generation(broker, names, lock);
    assertOutlivesManyReturns(names.tokens(lock, generation), slots);
    assertOutlivesManyReturns(names.tokenRecord(lock), 1);
    assertOutlivesManyReturns(names.tokenLedger(lock), 1);
  }

  @Test
  void theFirstAcquireMovesTheTokensToAQueueThatKeepsThem() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    asMadeOn3(ID);
    try (Lease lease = fixture.open().tokenSemaphore("s").acquire(LONG)) {
      assertThat(lease.slot()).isBetween(1, 2);
    }
    assertAllOutliveManyReturns(ID, 2);
    assertThat(admin.status().slots()).isEqualTo(2);
  }

  /** It takes hundreds of steps, and goes on by itself. */
  @Test
  void noCallWaitsForTheMoveForLongerThanItsTimeout() throws Exception {
    admin.create(1, TokenQueueType.QUORUM);
    locks.admin().tokenSemaphore("other").create(1, TokenQueueType.QUORUM);
    asMadeOn3(ID);
    String old = tokens(1);
    Duration timeout = Duration.ofSeconds(8);
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks far = fixture.open(fixture.builder(factory).heartbeat(LONG).callTimeout(timeout));
      Fixture.first(far.tokenSemaphore("other")).close();
      // The move takes half a minute so.
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofMillis(300));
      long start = System.nanoTime();
      assertThatCode(() -> far.tokenSemaphore("s").tryAcquire().ifPresent(Lease::close))
          .doesNotThrowAnyException();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(timeout.plusSeconds(8));
      assertThat(fixture.exists(old)).isTrue();
      await().atMost(Duration.ofMinutes(2)).until(() -> !fixture.exists(old));
      // The record is made anew then, and is not to be had for a while.
      await()
          .atMost(Duration.ofMinutes(2))
          .ignoreExceptionsInstanceOf(LockException.class)
          .until(() -> isFenced(far.tokenSemaphore("s").acquire(LONG)));
    }
  }

  private static boolean isFenced(Lease acquired) {
    try (Lease lease = acquired) {
      return lease.fencingTokenIfAny().isPresent();
    }
  }

  /** Whoever remembers the old queue, too: its session ended with the broker's old version. */
  @Test
  void aFencedMutexGoesOnWithHigherNumbers() throws Exception {
    FencingToken before = Fences.token(locks.fencedMutex("m"));
    asMadeOn3(LockId.fencedMutex("m"));
    assertThat(Fences.token(fixture.open().fencedMutex("m")).number())
        .isGreaterThan(before.number());
    assertThat(Fences.token(locks.fencedMutex("m")).number()).isGreaterThan(before.number());
    assertAllOutliveManyReturns(LockId.fencedMutex("m"), 1);
  }

  @Test
  void tokensInUseAreNotTakenFromTheirHolders() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    asMadeOn3(ID);
    String old = tokens(1);
    Tokens.take(holder, old, 1);
    AmqpLocks fresh =
        fixture.open(fixture.builder().heartbeat(LONG).callTimeout(Duration.ofSeconds(2)));
    try (Lease lease = Fixture.first(fresh.tokenSemaphore("s"))) {
      assertThat(lease.slot()).isBetween(1, 2);
      assertThat(lease.fencingTokenIfAny()).as("counted anew by this broker").isEmpty();
      assertThat(fixture.exists(old)).isTrue();
    }
    holder.basicNack(1, false, true);
    await().untilAsserted(() -> assertThat(Tokens.idle(broker, old)).hasSize(2));
    assertThat(fixture.patient().tokenSemaphore("s").tryAcquire()).hasValueSatisfying(Lease::close);
    assertThat(fixture.exists(old)).isFalse();
  }

  /** Their tokens take no harm, but their record does. */
  @Test
  void ofAClassicOneTheRecordIsMadeAnew() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    asMadeOn3(ID);
    String queue = tokens(1);
    assertThat(fixture.patient().tokenSemaphore("s").tryAcquire()).hasValueSatisfying(Lease::close);
    assertThat(fixture.exists(queue)).isTrue();
    assertAllOutliveManyReturns(ID, 2);
    Tokens.resizes(admin, 3, new TokenStatus(3, 3, 3, 0, 0, 0));
  }

  @Test
  void whoCreatesOrResizesMovesThemToo() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    String old = tokens(1);
    asMadeOn3(ID);
    assertThat(fixture.open().admin().tokenSemaphore("s").createIfAbsent(2, TokenQueueType.QUORUM))
        .isEqualTo(2);
    assertThat(fixture.exists(old)).isFalse();
    asMadeOn3(ID);
    Tokens.resizes(admin, 4, new TokenStatus(4, 4, 4, 0, 0, 0));
    assertAllOutliveManyReturns(ID, 4);
  }

  /** What an operator can do before anybody comes: OPERATIONS names it. */
  @Test
  void aPolicyKeepsWhatWasDeclaredWithoutALimit() throws Exception {
    String queue = fixture.prefix() + "unlimited";
    fixture.willStay(queue);
    String pattern = "^" + fixture.prefix() + "unlimited$";
    broker.faults().setPolicy(fixture.prefix(), pattern, "queues", "{\"delivery-limit\":-1}");
    holder.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
    Fences.publish(broker, queue, "a token");
    assertOutlivesManyReturns(queue, 1);
    broker.faults().clearPolicy(fixture.prefix());
  }
}
