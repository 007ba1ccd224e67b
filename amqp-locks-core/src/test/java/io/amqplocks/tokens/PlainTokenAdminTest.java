package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Delivery;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.TokenNaming;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Administration beside clients that follow the RabbitMQ blog, and rabbit-semaphore. */
@BrokerTest(everyLine = true)
class PlainTokenAdminTest {

  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private String queue;
  private TokenSemaphoreAdmin admin;
  private Connection stranger;
  private Channel holder;

  @BeforeEach
  void open(Broker broker) throws Exception {
    this.broker = broker;
    String name = fixture.prefix() + "resource";
    queue = TokenNaming.blog().tokens(LockName.of(name));
    admin =
        fixture
            .open(
                fixture
                    .builder()
                    .tokenNaming(TokenNaming.blog())
                    // A token that a stranger removed is waited for as long as a call may take.
                    .callTimeout(Duration.ofSeconds(4)))
            .admin()
            .tokenSemaphore(name);
    stranger = fixture.stranger();
    holder = stranger.createChannel();
  }

  @AfterEach
  void close() throws Exception {
    stranger.close();
  }

  /** The blog's first listing. */
  private void setUp(int tokens) throws Exception {
    holder.queueDeclare(queue, true, false, false, null);
    for (int i = 0; i < tokens; i++) {
      Fences.publish(broker, queue, "resource");
    }
  }

  private static TokenAudit clean(int slots) {
    return new TokenAudit(slots, slots, 0, 0, Set.of(), false);
  }

  @Test
  void isMadeSoThatStrangersCanUseIt() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    // Which fails if it was declared otherwise.
    holder.queueDeclare(queue, true, false, false, null);
    Tokens.take(holder, queue, 1);
    assertThat(admin.status()).isEqualTo(new TokenStatus(2, 2, 1, 1, 0, 0));
    Tokens.resizes(admin, 4, new TokenStatus(4, 4, 3, 1, 0, 0));
    assertThat(Tokens.resized(admin, 1).pendingWithdrawals()).isZero();
    holder.basicReject(1, true);
    assertThat(Tokens.audit(admin)).isEqualTo(clean(1));
    admin.destroy();
    assertThat(fixture.exists(queue)).isFalse();
    admin.create(1, TokenQueueType.CLASSIC);
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(clean(1));
    assertThatThrownBy(() -> admin.create(1, TokenQueueType.QUORUM))
        .isInstanceOf(LockException.Invalid.class);
  }

  @Test
  void aStrangersQueueIsAdopted() throws Exception {
    setUp(3);
    for (int other : new int[] {2, 4}) {
      assertThatThrownBy(() -> admin.create(other, TokenQueueType.CLASSIC))
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContainingAll("createIfAbsent", "repair");
    }
    Tokens.take(holder, queue, 1);
    assertThat(admin.createIfAbsent(3, TokenQueueType.CLASSIC)).isEqualTo(3);
    holder.basicReject(1, true);
    assertThat(Tokens.audit(admin)).isEqualTo(clean(3));
    assertThat(Tokens.idle(broker, queue)).containsOnly("resource").hasSize(3);
  }

  @Test
  void theLimitThatAStrangerChangedShows() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Fences.publish(broker, queue, "1");
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(new TokenAudit(2, 3, 1, 0, Set.of(), false));
    assertThat(admin.repair(Duration.ZERO).repaired()).isTrue();
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(clean(2));
    // As rabbit-semaphore lowers it.
    Channel lower = stranger.createChannel();
    lower.basicQos(1);
    BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
    String tag =
        lower.basicConsume(
            queue, false, Map.of("x-priority", 9), (t, token) -> received.add(token), t -> {});
    Delivery token = received.poll(30, TimeUnit.SECONDS);
    lower.basicCancel(tag);
    lower.basicAck(token.getEnvelope().getDeliveryTag(), false);
    lower.close();
    TokenAudit audit = admin.audit(Duration.ofMillis(300));
    assertThat(audit.outstandingSlots()).hasSize(1).isSubsetOf(1, 2);
    assertThat(audit).isEqualTo(new TokenAudit(2, 1, 0, 1, audit.outstandingSlots(), false));
    assertThat(admin.repair(Duration.ofMillis(300)).repaired()).isTrue();
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(clean(2));
  }

  @Tag("defect-S8")
  @Test
  void aResizeCountsWhatAStrangerAdded() throws Exception {
    admin.create(5, TokenQueueType.CLASSIC);
    Fences.publish(broker, queue, "1");
    Fences.publish(broker, queue, "1");
    Tokens.resizes(admin, 5, new TokenStatus(5, 5, 5, 0, 0, 0));
    assertThat(Tokens.idle(broker, queue)).hasSize(5);
  }

  @Test
  void tokensOfStrangersAreWithdrawnToo() throws Exception {
    setUp(3);
    admin.createIfAbsent(3, TokenQueueType.CLASSIC);
    Tokens.take(holder, queue, 3);
    assertThat(Tokens.resized(admin, 1).pendingWithdrawals()).isEqualTo(2);
    holder.basicReject(1, true);
    holder.basicReject(2, true);
    assertThat(admin.awaitWithdrawn(Duration.ofSeconds(30))).isTrue();
    holder.basicReject(3, true);
    assertThat(Tokens.audit(admin)).isEqualTo(clean(1));
  }

  /** The queue's process dies while the administrator has tokens in hand, and sends them again. */
  @Tag("trap-22")
  @Test
  void tokensThatTheQueueSendsAgainAreNotTakenForTooMany() throws Exception {
    admin.create(3, TokenQueueType.CLASSIC);
    CompletableFuture<TokenAudit> repair =
        CompletableFuture.supplyAsync(() -> admin.repair(Duration.ofSeconds(5)));
    await().until(() -> holder.messageCount(queue) == 0 && holder.consumerCount(queue) == 1);
    broker.faults().crashQueue(queue);
    TokenAudit clean = new TokenAudit(3, 3, 0, 0, Set.of(), false);
    assertThat(repair.get(60, TimeUnit.SECONDS)).isEqualTo(clean);
    assertThat(admin.audit(Duration.ofSeconds(1))).isEqualTo(clean);
  }
}
