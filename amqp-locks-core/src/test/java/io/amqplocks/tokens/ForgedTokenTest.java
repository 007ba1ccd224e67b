package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What somebody who may publish to the default exchange can do to token semaphores, and what not.
 */
@BrokerTest(everyLine = true)
@Tag("defect-S4")
class ForgedTokenTest extends TokenAdministered {

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final long LONGEST_LOOK = Duration.ofMillis(50).toNanos();

  /**
   * All leases that can be had. A lease that is verified for the first time has the last idle token
   * too for a moment, so an end is looked at again.
   */
  private static List<Lease> all(AmqpLock lock) {
    List<Lease> leases = new ArrayList<>();
    await()
        .pollInterval(Duration.ofMillis(20))
        .during(Duration.ofMillis(200))
        .until(
            () -> {
              Optional<Lease> lease = lock.tryAcquire();
              lease.ifPresent(leases::add);
              return lease.isEmpty();
            });
    return leases;
  }

  private void forge(LockId id, String token) throws Exception {
    int generation = Tokens.generation(broker, fixture.names(), id);
    Fences.publish(broker, fixture.names().tokens(id, generation), token);
  }

  @ParameterizedTest
  @EnumSource
  void aTokenThatTheRecordDoesNotNameIsNoLease(TokenQueueType type) throws Exception {
    admin.create(2, type);
    int major = broker.version().major();
    int wrong = major + 1;
    String real = Tokens.idle(broker, tokens(1)).get(0);
    forge(ID, "slot 3 epoch 29000000 on RabbitMQ " + major);
    forge(ID, "slot 1 epoch 29000000 on RabbitMQ " + major);
    forge(ID, "slot 2 epoch " + FencingToken.MAX_EPOCH + " on RabbitMQ " + major);
    if (type == TokenQueueType.QUORUM) {
      forge(ID, real.replaceFirst("RabbitMQ \\d+", "RabbitMQ " + wrong));
    }
    List<Lease> leases = all(locks.tokenSemaphore("s"));
    assertThat(leases).extracting(Lease::slot).containsExactlyInAnyOrder(1, 2);
    leases.forEach(Tokens::verified);
    leases.forEach(Lease::close);
    // What is closed goes back by a message that nobody waits for.
    await()
        .untilAsserted(
            () -> assertThat(Tokens.idle(broker, tokens(1))).hasSize(2).doesNotHaveDuplicates());
  }

  /** A waiter's consumer is sent it, instead of asking. */
  @ParameterizedTest
  @EnumSource
  void aForgedTokenThatIsSentToAWaiterIsNoLeaseEither(TokenQueueType type) throws Exception {
    admin.create(1, type);
    try (Lease held = locks.tokenSemaphore("s").acquire(LONG)) {
      var waiting = locks.tokenSemaphore("s").acquireAsync(LONG).toCompletableFuture();
      forge(ID, "slot 2 epoch 29000000 on RabbitMQ " + broker.version().major());
      Tokens.verified(held);
      held.close();
      try (Lease next = waiting.get(20, TimeUnit.SECONDS)) {
        assertThat(next.slot()).isEqualTo(1);
        assertThat(locks.tokenSemaphore("s").tryAcquire()).isEmpty();
      }
    }
  }

  /** However a verification looks at the queue, a lease does not move to what it finds there. */
  @ParameterizedTest
  @EnumSource
  void aLeaseDoesNotMoveToAForgedTokenWhenItIsVerified(TokenQueueType type) throws Exception {
    admin.create(1, type);
    try (Lease lease = locks.tokenSemaphore("s").acquire(LONG)) {
      for (int i = 0; i < 5; i++) {
        forge(ID, "slot 3 epoch 29000000 on RabbitMQ " + broker.version().major());
        Tokens.verified(lease);
        assertThat(lease.slot()).isEqualTo(1);
      }
      assertThat(locks.tokenSemaphore("s").tryAcquire()).isEmpty();
    }
    await().untilAsserted(() -> assertThat(Tokens.idle(broker, tokens(1))).hasSize(1));
  }

  /**
   * Strangers' messages come while leases are verified: none is one too many, then or afterwards.
   */
  @Tag("defect-S2")
  @ParameterizedTest
  @EnumSource
  void afterItsVerificationNoLeaseIsOneTooMany(TokenQueueType type) throws Exception {
    admin.create(2, type);
    AmqpLock lock = fixture.open(fixture.seldomVerifying()).tokenSemaphore("s");
    long longest = 0;
    for (int round = 0; round < 6; round++) {
      List<Lease> held = List.of(lock.acquire(LONG), lock.acquire(LONG));
      for (int stray = 0; stray < 3; stray++) {
        forge(ID, "slot 3 epoch 29000000 on RabbitMQ " + broker.version().major());
      }
      CompletableFuture<Void> verified =
          CompletableFuture.runAsync(() -> held.forEach(Lease::verify));
      List<Lease> all = new ArrayList<>(held);
      long tooMany = 0;
      long last = System.nanoTime();
      while (!verified.isDone()) {
        lock.tryAcquire().ifPresent(all::add);
        boolean fine = all.stream().filter(lease -> lease.state() == LeaseState.HELD).count() <= 2;
        long now = System.nanoTime();
        // Not more for one look: that would be a stall of the machine.
        tooMany = fine ? 0 : tooMany + Math.min(now - last, LONGEST_LOOK);
        longest = Math.max(longest, tooMany);
        last = now;
      }
      verified.get();
      assertThat(all.stream().filter(lease -> lease.verify() == LeaseState.HELD))
          .as("round %d", round)
          .hasSizeLessThanOrEqualTo(2);
      all.forEach(Lease::close);
    }
    // Until a verification had ended, of old: that it has lost its token, it finds out after 600
    // ms.
    assertThat(Duration.ofNanos(longest)).as("one too many").isLessThan(Duration.ofMillis(500));
  }

  @Test
  void noForgedEpochPoisonsAResource() throws Exception {
    FencingToken before;
    try (Lease lease = locks.fencedMutex("m").acquire(LONG)) {
      before = lease.fencingToken();
    }
    forge(
        LockId.fencedMutex("m"),
        "slot 1 epoch " + FencingToken.MAX_EPOCH + " on RabbitMQ " + broker.version().major());
    for (int i = 0; i < 4; i++) {
      try (Lease lease = locks.fencedMutex("m").acquire(LONG)) {
        assertThat(lease.fencingToken().epoch()).isEqualTo(before.epoch());
        assertThat(locks.fencedMutex("m").tryAcquire()).isEmpty();
      }
    }
  }

  /** This process remembers a record that does not name the new ones. */
  @ParameterizedTest
  @EnumSource
  void tokensThatWereAddedSinceAreTokens(TokenQueueType type) {
    admin.create(1, type);
    assertThat(locks.tokenSemaphore("s").tryAcquire()).hasValueSatisfying(Lease::close);
    fixture.open().admin().tokenSemaphore("s").resize(4);
    assertThat(all(locks.tokenSemaphore("s")))
        .extracting(Lease::slot)
        .containsExactlyInAnyOrder(1, 2, 3, 4);
  }

  private TokenRecord record() throws Exception {
    return TokenRecord.parse(Tokens.idle(broker, fixture.names().tokenRecord(ID)).get(0))
        .orElseThrow();
  }

  /** They would leave no number above them, for good. */
  @Test
  void recordsOutOfAllRangeAreNotBelieved() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    String real = record().toString().replace("slots 2", "slots 0");
    long next = record().version() + 900;
    String queue = fixture.names().tokenRecord(ID);
    for (String forged :
        List.of(
            real.replaceFirst("version \\d+", "version 999999999999999999"),
            real.replaceFirst("version \\d+", "version " + next)
                .replaceFirst("of \\d+", "of 999999999"),
            real.replaceFirst("version \\d+", "version " + (next + 1))
                .replaceFirst("epoch \\d+", "epoch " + FencingToken.MAX_EPOCH))) {
      Fences.publish(broker, queue, forged);
    }
    assertThat(all(fixture.open().tokenSemaphore("s"))).hasSize(2);
    // An administrator clears them away.
    assertThat(Tokens.resized(admin, 3).tokens()).isEqualTo(3);
    assertThat(Tokens.idle(broker, queue)).containsExactly(record().toString());
  }

  /** Nobody can tell a good forgery, but whoever compares it with the ledger. */
  @Test
  void aForgedRecordIsFoundOutByTheLedger() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    String real = record().toString();
    String queue = fixture.names().tokenRecord(ID);
    String forged =
        real.replaceFirst("version \\d+", "version " + (record().version() + 500))
            .replaceFirst("generation \\d+ of \\d+", "generation 5 of 5");
    Fences.publish(broker, queue, forged);
    assertThatThrownBy(() -> fixture.open().tokenSemaphore("s").tryAcquire())
        .hasMessageContaining("no");
    assertThat(admin.repair(Duration.ZERO).slots()).isEqualTo(2);
    assertThat(Tokens.idle(broker, queue)).containsExactly(real);
    assertThat(all(fixture.open().tokenSemaphore("s"))).hasSize(2);
  }

  /** More than an administrator looks at in one go. */
  @Test
  void noNumberOfStrangersMessagesHidesTheRecordFromAnAdministrator() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    for (String queue : List.of(fixture.names().tokenRecord(ID), fixture.names().tokenLedger(ID))) {
      Channel forger = stranger.createChannel();
      forger.confirmSelect();
      for (int i = 0; i < 150; i++) {
        forger.basicPublish("", queue, null, "no record".getBytes(StandardCharsets.UTF_8));
      }
      forger.waitForConfirmsOrDie(30_000);
      forger.close();
    }
    assertThat(Tokens.resized(admin, 3).tokens()).isEqualTo(3);
    assertThat(Tokens.idle(broker, fixture.names().tokenRecord(ID))).hasSize(1);
    assertThat(Tokens.idle(broker, fixture.names().tokenLedger(ID))).hasSize(1);
    assertThat(all(fixture.open().tokenSemaphore("s"))).hasSize(3);
  }

  /** While the true message is in somebody's hand, the forged one is alone. */
  @Test
  void noForgedCounterPoisonsAResource() throws Exception {
    LockId mutex = LockId.mutex("m");
    FencingToken before = Fences.token(locks.mutex("m"));
    String counter = fixture.names().counter(FenceCounter.of(mutex, 1), 1);
    Tokens.take(holder, counter, 1);
    Fences.publish(
        broker,
        counter,
        "epoch " + FencingToken.MAX_EPOCH + " on RabbitMQ " + broker.version().major());
    assertThatThrownBy(() -> locks.mutex("m").fenced().tryAcquire())
        .isInstanceOf(LockException.FenceUnavailable.class);
    locks.admin().fence(mutex).renew(1);
    FencingToken after = Fences.token(locks.mutex("m"));
    assertThat(after.number()).isGreaterThan(before.number());
    assertThat(after.epoch()).isLessThan(before.epoch() + 100);
  }

  /** What OPERATIONS advises: those who only use token semaphores need not publish at all. */
  @ParameterizedTest
  @EnumSource
  void aUserThatMayOnlyReadHoldsTokensAndForgesNone(TokenQueueType type) throws Exception {
    admin.create(2, type);
    String user = fixture.prefix() + "reader";
    broker.faults().addUser(user, "secret", "^$", "^$", "^" + fixture.prefix());
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(user);
    factory.setPassword("secret");
    try (AmqpLocks reader = fixture.builder(factory).build()) {
      try (Lease lease = reader.tokenSemaphore("s").acquire(LONG)) {
        Tokens.verified(lease);
      }
      // What is closed goes back by a message that nobody waits for.
      await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(2));
      assertThat(all(reader.tokenSemaphore("s"))).hasSize(2);
    }
    try (Connection connection = factory.newConnection()) {
      Channel channel = connection.createChannel();
      channel.confirmSelect();
      channel.basicPublish("", tokens(1), null, "slot 3".getBytes(StandardCharsets.UTF_8));
      assertThatThrownBy(() -> channel.waitForConfirmsOrDie(30_000))
          .hasStackTraceContaining("ACCESS_REFUSED");
    }
  }
}
