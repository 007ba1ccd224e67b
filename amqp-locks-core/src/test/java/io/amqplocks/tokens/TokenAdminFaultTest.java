package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenSet;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an administrator of tokens does when it is cut off, overtaken, hindered or sent away. */
@BrokerTest(everyLine = true)
class TokenAdminFaultTest extends TokenAdministered {

  private static final Duration LONG = Duration.ofSeconds(20);

  private CompletableFuture<TokenAudit> repairWaits() {
    CompletableFuture<TokenAudit> repair = CompletableFuture.supplyAsync(() -> admin.repair(LONG));
    await().untilAsserted(() -> assertThat(admin.status().idle()).isZero());
    return repair;
  }

  @ParameterizedTest
  @EnumSource
  void aRepairThatIsCutOffChangesNothing(TokenQueueType type) throws Exception {
    admin.create(2, type);
    Tokens.take(holder, tokens(1), 1);
    CompletableFuture<TokenAudit> repair = repairWaits();
    broker.faults().closeConnections(fixture.prefix() + " administrator", "test");
    assertThatThrownBy(() -> repair.get(60, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(LockException.Unreachable.class);
    assertThat(fixture.exists(tokens(1))).isTrue();
    await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(1));
  }

  @Test
  void aRepairBringsNothingBackThatAnotherDestroyed() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    Tokens.take(holder, tokens(1), 1);
    CompletableFuture<TokenAudit> repair = repairWaits();
    fixture.open().admin().tokenSemaphore("s").destroy();
    assertThatThrownBy(() -> repair.get(60, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(LockException.NotFound.class);
    assertThat(admin.status()).isEqualTo(new TokenStatus(0, 0, 0, 0, 0, 0));
  }

  @Test
  void aFencedMutexIsMadeAgainAndCanBeRepairedAndDestroyed() throws Exception {
    TokenSemaphoreAdmin mutex = locks.admin().fencedMutex("m");
    LockId id = LockId.fencedMutex("m");
    long first = number();
    int generation = Tokens.generation(broker, fixture.names(), id);
    fixture.delete(fixture.names().tokens(id, generation));
    // By another process, and by one that remembers the queue.
    try (Lease lease = fixture.open().fencedMutex("m").acquire(LONG)) {
      assertThat(lease.fencingToken().number()).isGreaterThan(first);
    }
    long second = number();
    fixture.delete(fixture.names().tokens(id, generation + 1));
    assertThat(mutex.repair(Duration.ZERO).repaired()).isTrue();
    assertThat(number()).isGreaterThan(second);
    assertThat(Tokens.audit(mutex)).isEqualTo(clean(1));
    mutex.destroy();
    assertThat(mutex.count()).isZero();
    assertThat(number()).isGreaterThan(second);
    assertThatThrownBy(() -> mutex.create(2, TokenQueueType.QUORUM))
        .isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> mutex.create(1, TokenQueueType.CLASSIC))
        .isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> mutex.resize(2)).isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> locks.admin().fence(id))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("admin().fencedMutex(\"m\").repair");
    assertThatThrownBy(() -> locks.admin().fence(ID)).isInstanceOf(LockException.Invalid.class);
  }

  private long number() throws Exception {
    try (Lease lease = locks.fencedMutex("m").acquire(LONG)) {
      return lease.fencingToken().number();
    }
  }

  @Test
  void aPolicyIsFoundOnWhateverOfItsQueuesItIs() {
    Map<String, TokenQueueType> found =
        Map.of("tokens", TokenQueueType.QUORUM, "record", TokenQueueType.CLASSIC);
    found.forEach(
        (queues, type) -> {
          String pattern = "^" + fixture.prefix() + ".*[.]" + queues;
          broker.faults().setPolicy("short", pattern, "queues", "{\"message-ttl\":1}");
          assertThatThrownBy(() -> admin.create(1, type))
              .isInstanceOf(LockException.FenceUnavailable.class)
              .hasMessageContaining("." + queues + ".try-");
          broker.faults().clearPolicy("short");
        });
    assertThat(Tokens.queues(broker, fixture.prefix())).isEmpty();
  }

  /** Nothing half done stays behind. */
  @Test
  void anInterruptDoesNotCutAChangeShort() {
    Thread.currentThread().interrupt();
    admin.create(5, TokenQueueType.QUORUM);
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    assertThat(Tokens.resized(admin, 8).tokens()).isEqualTo(8);
    assertThat(Thread.interrupted()).isTrue();
    await()
        .untilAsserted(
            () -> assertThat(admin.status()).isEqualTo(new TokenStatus(8, 8, 8, 0, 0, 0)));
  }

  /** Nobody knows any more what there was; but what is made now is above it. */
  @Test
  void aLostRecordAndLedger() throws Exception {
    // Generations begin at the minute of the clock. In the same minute the old queue is found.
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> System.currentTimeMillis() % 60_000 < 40_000);
    admin.create(1, TokenQueueType.QUORUM);
    String queue = tokens(1);
    fixture.delete(fixture.names().tokenLedger(ID));
    fixture.delete(fixture.names().tokenRecord(ID));
    admin.create(2, TokenQueueType.QUORUM);
    String now = fixture.names().tokens(ID, Tokens.generation(broker, fixture.names(), ID));
    assertThat(Tokens.queues(broker, queue.replaceFirst("[0-9]+$", ""))).hasSize(1);
    assertThat(now).isGreaterThan(queue);
  }

  /** More acknowledgements than a channel sends to a quorum queue's log at a time. */
  @ParameterizedTest
  @EnumSource
  void manyTokensAreRemoved(TokenQueueType type) {
    admin.create(200, type);
    Tokens.resizes(admin, 3, new TokenStatus(3, 3, 3, 0, 0, 0));
    assertThat(Tokens.audit(admin)).isEqualTo(clean(3));
  }

  /** A reader that stopped between taking the record and putting it back. */
  @Test
  void aHiddenRecordHindersNoAdministrator() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Tokens.take(holder, fixture.names().tokenRecord(ID), 1);
    TokenSemaphoreAdmin hasty =
        fixture
            .open(fixture.builder().callTimeout(Duration.ofSeconds(8)))
            .admin()
            .tokenSemaphore("s");
    assertThat(hasty.createIfAbsent(7, TokenQueueType.QUORUM)).isEqualTo(2);
    // And has written it again, for all.
    assertThat(hasty.count()).isEqualTo(2);
    Tokens.take(holder, fixture.names().tokenRecord(ID), 1);
    assertThat(hasty.repair(Duration.ZERO)).isEqualTo(clean(2));
    holder.abort();
    assertThat(Tokens.resized(hasty, 3).tokens()).isEqualTo(3);
    assertThat(Tokens.idle(broker, fixture.names().tokenRecord(ID))).hasSize(1);
  }

  /** As of an administrator that died after it had written the number, and before the tokens. */
  @Test
  void slotsWithoutTokensAreNoticedAndMadeByWhoStarts() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    TokenRecord made =
        TokenRecord.parse(Tokens.idle(broker, fixture.names().tokenRecord(ID)).get(0))
            .orElseThrow();
    TokenRecord grown =
        new TokenRecord(
            made.version() + 1,
            made.generation(),
            made.reserved(),
            made.type(),
            3,
            made.epoch(),
            made.brokerMajor(),
            made.tokens(),
            TokenSet.NONE,
            TokenSet.NONE);
    for (String each : List.of(fixture.names().tokenRecord(ID), fixture.names().tokenLedger(ID))) {
      holder.queuePurge(each);
      Fences.publish(broker, each, grown.toString());
    }
    TokenAudit audit = admin.audit(Duration.ofSeconds(30));
    assertThat(audit).isEqualTo(new TokenAudit(3, 2, 0, 0, Set.of(), false));
    assertThat(audit.isClean()).isFalse();
    assertThat(admin.createIfAbsent(7, TokenQueueType.CLASSIC)).isEqualTo(3);
    assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 3, 0, 0, 0));
    assertThat(admin.audit(Duration.ofSeconds(30)).isClean()).isTrue();
  }

  /** One that was made, or changed, within the last hour leaves its record. */
  @Test
  void aSemaphoreDestroyedLongAfterItWasMadeLeavesNothing() throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    TokenRecord made =
        TokenRecord.parse(Tokens.idle(broker, fixture.names().tokenRecord(ID)).get(0))
            .orElseThrow();
    holder.queueDelete(fixture.names().tokens(ID, made.generation()));
    TokenRecord old =
        new TokenRecord(
            made.version(),
            made.generation() - 100,
            made.reserved() - 100,
            made.type(),
            1,
            made.epoch() - 100,
            made.brokerMajor(),
            TokenSet.of(List.of(1), made.epoch() - 100),
            TokenSet.NONE,
            TokenSet.NONE);
    String queue = fixture.names().tokens(ID, old.generation());
    holder.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "classic"));
    Fences.publish(broker, queue, old.tokens().contents(old.brokerMajor()).get(0).toString());
    for (String each : List.of(fixture.names().tokenRecord(ID), fixture.names().tokenLedger(ID))) {
      holder.queuePurge(each);
      Fences.publish(broker, each, old.toString());
    }
    Tokens.resizes(admin, 2, new TokenStatus(2, 2, 2, 0, 0, 0));
    admin.destroy();
    // Its last token was made just now.
    assertThat(fixture.exists(fixture.names().tokenLedger(ID))).isTrue();
    for (String each : List.of(fixture.names().tokenRecord(ID), fixture.names().tokenLedger(ID))) {
      holder.queuePurge(each);
      Fences.publish(broker, each, old.destroyed().deleted().toString());
    }
    admin.destroy();
    await().untilAsserted(() -> assertThat(Tokens.queues(broker, fixture.prefix())).isEmpty());
    admin.create(1, TokenQueueType.QUORUM);
    assertThat(admin.status()).isEqualTo(new TokenStatus(1, 1, 1, 0, 0, 0));
  }
}
