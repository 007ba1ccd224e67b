package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The audit finds what strangers, crashes and wrong arguments did to tokens, and repair mends it.
 */
@BrokerTest(everyLine = true)
class TokenRepairTest extends TokenAdministered {

  @ParameterizedTest
  @EnumSource
  void findsATokenThatAStrangerAcknowledged(TokenQueueType type) throws Exception {
    admin.create(3, type);
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(clean(3));
    Fences.take(broker, tokens(1), true);
    TokenAudit audit = admin.audit(Duration.ofMillis(300));
    assertThat(audit).isEqualTo(new TokenAudit(3, 2, 0, 1, Set.of(1), false));
    assertThat(audit.isClean()).isFalse();
    // An audit changes nothing.
    await()
        .untilAsserted(
            () -> assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 2, 1, 0, 0)));
    assertThat(admin.repair(Duration.ZERO)).isEqualTo(new TokenAudit(3, 2, 0, 1, Set.of(1), true));
    assertThat(fixture.exists(tokens(1))).isFalse();
    assertThat(Tokens.idle(broker, tokens(2))).hasSize(3).doesNotHaveDuplicates();
    assertThat(admin.repair(Duration.ZERO)).isEqualTo(clean(3));
  }

  @ParameterizedTest
  @EnumSource
  void findsWhatAStrangerPublished(TokenQueueType type) throws Exception {
    admin.create(2, type);
    List<String> tokens = Tokens.idle(broker, tokens(1));
    Fences.publish(broker, tokens(1), tokens.get(0));
    Fences.publish(broker, tokens(1), "resource");
    Fences.publish(broker, tokens(1), "slot 3 epoch 5 on RabbitMQ 4");
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(new TokenAudit(2, 5, 3, 0, Set.of(), false));
    assertThat(admin.repair(Duration.ZERO)).isEqualTo(new TokenAudit(2, 5, 3, 0, Set.of(), true));
    assertThat(Tokens.idle(broker, tokens(1))).isEqualTo(tokens);
    assertThat(admin.audit(Duration.ZERO)).isEqualTo(clean(2));
  }

  @ParameterizedTest
  @EnumSource
  void waitsForTokensInUseAndNoLonger(TokenQueueType type) throws Exception {
    admin.create(3, type);
    List<GetResponse> held = Tokens.take(holder, tokens(1), 2);
    // A classic queue does not tell whether there is nobody else.
    Duration timeout = Duration.ofSeconds(type == TokenQueueType.QUORUM ? 120 : 15);
    CompletableFuture<TokenAudit> audit =
        CompletableFuture.supplyAsync(() -> admin.repair(timeout));
    await().untilAsserted(() -> assertThat(admin.status().idle()).isZero());
    for (GetResponse token : held) {
      holder.basicNack(token.getEnvelope().getDeliveryTag(), false, true);
    }
    assertThat(audit.get(60, TimeUnit.SECONDS)).isEqualTo(clean(3));
    // All are put back.
    await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(3));
    assertThat(Tokens.idle(broker, tokens(1))).hasSize(3);
  }

  @Tag("defect-S8")
  @ParameterizedTest
  @EnumSource
  void aSurplusTokenInUseIsWaitedForAndRemoved(TokenQueueType type) throws Exception {
    admin.create(1, type);
    Fences.publish(broker, tokens(1), Tokens.idle(broker, tokens(1)).get(0));
    Tokens.take(holder, tokens(1), 1);
    CompletableFuture<TokenAudit> repair =
        CompletableFuture.supplyAsync(() -> admin.repair(Duration.ofSeconds(12)));
    await().untilAsserted(() -> assertThat(admin.status().idle()).isZero());
    holder.basicNack(1, false, true);
    assertThat(repair.get(60, TimeUnit.SECONDS))
        .isEqualTo(new TokenAudit(1, 2, 1, 0, Set.of(), true));
    assertThat(Tokens.audit(admin)).isEqualTo(clean(1));
  }

  /** The queue's process dies while the administrator has tokens in hand, and sends them again. */
  @Tag("trap-22")
  @Test
  void tokensThatAClassicQueueSendsAgainAreNotTakenForDoubled() throws Exception {
    admin.create(3, TokenQueueType.CLASSIC);
    CompletableFuture<TokenAudit> repair =
        CompletableFuture.supplyAsync(() -> admin.repair(Duration.ofSeconds(5)));
    await().untilAsserted(() -> assertThat(admin.status().idle()).isZero());
    fixture.awaitConsumers(tokens(1), 1);
    broker.faults().crashQueue(tokens(1));
    assertThat(repair.get(60, TimeUnit.SECONDS)).isEqualTo(clean(3));
    assertThat(Tokens.audit(admin)).isEqualTo(clean(3));
  }

  /** Its time is over, and it waits for another administrator; then others get the tokens. */
  @Tag("trap-22")
  @Test
  void whoGetsTokensThatAClassicQueueSendsAgainKeepsThem() throws Exception {
    admin.create(3, TokenQueueType.CLASSIC);
    Duration timeout = Duration.ofSeconds(10);
    String queue = tokens(1);
    CompletableFuture<TokenAudit> repair;
    List<Lease> held = new ArrayList<>();
    try (Connection another = fixture.stranger()) {
      another
          .createChannel()
          .queueDeclare(fixture.names().tokenAdmin(ID), false, true, false, Map.of());
      repair = CompletableFuture.supplyAsync(() -> admin.repair(timeout));
      await().until(() -> holder.messageCount(queue) == 0);
      long began = System.nanoTime();
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        waiting.add(locks.tokenSemaphore("s").acquireAsync(Duration.ofMinutes(1)));
      }
      await().until(() -> System.nanoTime() - began > timeout.plusSeconds(1).toNanos());
      broker.faults().crashQueue(queue);
      for (CompletableFuture<Lease> each : waiting) {
        held.add(each.get(60, TimeUnit.SECONDS));
      }
    }
    // The repair consumes again, besides the holders.
    fixture.awaitConsumers(queue, 4);
    held.forEach(Tokens::verified);
    held.forEach(Lease::close);
    assertThat(repair.get(60, TimeUnit.SECONDS)).isEqualTo(clean(3));
  }

  @Tag("defect-S8")
  @ParameterizedTest
  @EnumSource
  void aResizeRemovesWhatOthersAdded(TokenQueueType type) throws Exception {
    admin.create(5, type);
    String token = Tokens.idle(broker, tokens(1)).get(0);
    Fences.publish(broker, tokens(1), token);
    Fences.publish(broker, tokens(1), token);
    assertThat(admin.status().idle()).isEqualTo(7);
    resizedTo(5);
    Fences.publish(broker, tokens(1), token);
    Fences.publish(broker, tokens(1), "resource");
    resizedTo(6);
    Fences.publish(broker, tokens(1), token);
    resizedTo(2);
    assertThat(Tokens.idle(broker, tokens(1))).hasSize(2).doesNotHaveDuplicates();
  }

  /** What an administrator gives back, a queue has a moment later. */
  private void resizedTo(int slots) {
    assertThat(Tokens.resized(admin, slots).slots()).isEqualTo(slots);
    await()
        .untilAsserted(
            () ->
                assertThat(admin.status())
                    .isEqualTo(new TokenStatus(slots, slots, slots, 0, 0, 0)));
  }

  @Test
  void aSemaphoreThatGrowsWhileItIsInspectedIsSeenAsItIsThen() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    Tokens.take(holder, tokens(1), 1);
    CompletableFuture<TokenAudit> audit =
        CompletableFuture.supplyAsync(() -> admin.repair(Duration.ofMinutes(2)));
    await().untilAsserted(() -> assertThat(admin.status().idle()).isZero());
    fixture.open().admin().tokenSemaphore("s").resize(4);
    holder.basicNack(1, false, true);
    assertThat(audit.get(60, TimeUnit.SECONDS)).isEqualTo(clean(4));
    assertThat(fixture.exists(tokens(2))).isFalse();
  }

  @Test
  void aDeletedQueueIsMadeAnewUnderAnotherName() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    fixture.delete(tokens(1));
    assertThatThrownBy(() -> admin.audit(Duration.ZERO)).isInstanceOf(LockException.NotFound.class);
    assertThat(admin.repair(Duration.ZERO).outstanding()).isEqualTo(2);
    assertThat(fixture.exists(tokens(1))).isFalse();
    assertThat(admin.status()).isEqualTo(new TokenStatus(2, 2, 2, 0, 0, 0));
    fixture.delete(tokens(2));
    // The number that an administrator chose survives it.
    assertThat(admin.createIfAbsent(7, TokenQueueType.CLASSIC)).isEqualTo(2);
    assertThat(Tokens.idle(broker, tokens(3))).hasSize(2);
  }

  @Test
  void aLostLedgerIsRestoredFromTheRecordAndTheOtherWayRound() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    fixture.delete(fixture.names().tokenLedger(ID));
    assertThat(Tokens.resized(admin, 3).tokens()).isEqualTo(3);
    fixture.delete(fixture.names().tokenRecord(ID));
    assertThat(admin.count()).isZero();
    assertThat(Tokens.resized(admin, 4).tokens()).isEqualTo(4);
    assertThat(admin.count()).isEqualTo(4);
    // One that is there and empty may be in the hands of an administrator that is just dying.
    Fences.take(broker, fixture.names().tokenLedger(ID), true);
    assertThatThrownBy(() -> admin.resize(5))
        .isInstanceOf(LockException.Unexpected.class)
        .hasMessageContaining("ledger");
    assertThat(Tokens.idle(broker, tokens(1))).hasSize(4);
  }

  @Tag("trap-11")
  @Test
  void whatADeadMakerLeftIsNotFilledAgain() throws Exception {
    admin.create(3, TokenQueueType.QUORUM);
    assertThat(fixture.exists(tokens(1))).isTrue();
    admin.destroy();
    // As if it had died after the first token of three, and its successor too.
    for (int generation = 2; generation <= 3; generation++) {
      holder.queueDeclare(tokens(generation), true, false, false, Map.of("x-queue-type", "quorum"));
      Fences.publish(broker, tokens(generation), "slot 1 epoch 5 on RabbitMQ 4");
    }
    admin.create(3, TokenQueueType.QUORUM);
    assertThat(fixture.exists(tokens(2))).isFalse();
    assertThat(fixture.exists(tokens(3))).isFalse();
    assertThat(Tokens.idle(broker, tokens(4))).hasSize(3).doesNotHaveDuplicates();
  }

  @Tag("trap-8")
  @ParameterizedTest
  @EnumSource
  void tokensOutliveManyReturns(TokenQueueType type) throws Exception {
    admin.create(1, type);
    for (int i = 0; i < 30; i++) {
      assertThat(reject(tokens(1))).isTrue();
    }
    assertThat(Tokens.audit(admin)).isEqualTo(clean(1));
  }

  /** Whether there was one: what was rejected may be on its way back for a moment. */
  private boolean reject(String queue) throws Exception {
    long start = System.nanoTime();
    AtomicReference<@Nullable GetResponse> got = new AtomicReference<>();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              got.set(holder.basicGet(queue, false));
              return got.get() != null
                  || System.nanoTime() - start > Duration.ofSeconds(5).toNanos();
            });
    GetResponse token = got.get();
    if (token != null) {
      holder.basicReject(token.getEnvelope().getDeliveryTag(), true);
    }
    return token != null;
  }

  /** The negative control: with a quorum queue's default arguments. */
  @Tag("trap-8")
  @Test
  void theAuditTellsWhatDefaultArgumentsDo() throws Exception {
    admin.create(1, TokenQueueType.QUORUM);
    String token = Tokens.idle(broker, tokens(1)).get(0);
    holder.queueDelete(tokens(1));
    holder.queueDeclare(tokens(1), true, false, false, Map.of("x-queue-type", "quorum"));
    Fences.publish(broker, tokens(1), token);
    for (int i = 0; i < 30 && reject(tokens(1)); i++) {
      // Until it is lost.
    }
    boolean lost = broker.version().isAtLeast(4, 0);
    assertThat(admin.audit(Duration.ofMillis(500)).outstanding()).isEqualTo(lost ? 1 : 0);
  }

  @ParameterizedTest
  @EnumSource
  void aPolicyThatLosesTokensShowsAtOnce(TokenQueueType type) {
    broker
        .faults()
        .setPolicy("few", "^" + fixture.prefix() + ".*tokens", "queues", "{\"max-length\":2}");
    assertThatThrownBy(() -> admin.create(3, type))
        .isInstanceOf(LockException.Unexpected.class)
        .hasMessageContaining("of 3 tokens published 2 are in the queue");
    assertThat(admin.count()).isZero();
    broker.faults().clearPolicy("few");
    admin.create(3, type);
    assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 3, 0, 0, 0));
  }
}
