package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The broker gives a token away and does not say so: the holder must find out, and nobody else
 * lose.
 */
@BrokerTest(everyLine = true)
class TokenGivenAwayTest extends TokenGivenAway {

  /**
   * A classic queue that is started anew knows of no holder, and gives its tokens to whoever asks.
   */
  @Tag("defect-S2")
  @ParameterizedTest
  @EnumSource
  void aCrashedClassicQueueHasOneHolder(Way way) throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    AmqpLock lock = here.tokenSemaphore("s");
    Lease a = hold(lock, others.tokenSemaphore("s"), way);
    broker.faults().crashQueue(queue(a.lock()));
    Lease b = taken(others.tokenSemaphore("s"));
    assertThat(a.verify()).isEqualTo(LeaseState.LOST);
    assertThat(a.lossReason().orElseThrow().cause()).isEqualTo(Cause.REVOKED);
    staysHeld(b);
    // Neither what the loser gives back nor its next attempt meets the other's token.
    a.close();
    assertThat(lock.tryAcquire()).isEmpty();
    staysHeld(b);
    b.close();
    taken(lock).close();
    oneTokenIsLeft();
  }

  /**
   * The one that lost it waits for it, and is sent what the other one gives back. As long as both
   * verify, the two would pass one token to each other.
   */
  @ParameterizedTest
  @ValueSource(ints = {50, 300})
  void whoLostATokenTakesNoOther(int everyMillis) throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    Lease a = hold(here.tokenSemaphore("s"), others.tokenSemaphore("s"), Way.BY_GET);
    broker.faults().crashQueue(queue(a.lock()));
    Lease b = taken(others.tokenSemaphore("s"));
    ScheduledExecutorService verifiers = Executors.newScheduledThreadPool(2);
    try {
      for (Lease each : List.of(a, b)) {
        var unused =
            verifiers.scheduleWithFixedDelay(each::verify, 0, everyMillis, TimeUnit.MILLISECONDS);
      }
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> (a.state() == LeaseState.LOST) != (b.state() == LeaseState.LOST));
    } finally {
      verifiers.shutdown();
      assertThat(verifiers.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }
    Lease left = a.state() == LeaseState.LOST ? b : a;
    await().until(() -> left.verify() == LeaseState.HELD);
    staysHeld(left);
    assertThat(here.tokenSemaphore("s").tryAcquire()).isEmpty();
    left.close();
    taken(others.tokenSemaphore("s")).close();
    oneTokenIsLeft();
  }

  @Tag("defect-S2")
  @ParameterizedTest
  @EnumSource
  void aCrashedQuorumQueueKeepsItsHolder(Way way) throws Exception {
    admin.create(1, TokenQueueType.QUORUM);
    AmqpLock other = others.tokenSemaphore("s");
    Lease a = hold(here.tokenSemaphore("s"), other, way);
    broker.faults().crashQueue(queue(a.lock()));
    // It may have no leader for a moment.
    Optional<Lease> answered =
        await()
            .ignoreExceptionsInstanceOf(LockException.class)
            .until(other::tryAcquire, Objects::nonNull);
    assertThat(answered).isEmpty();
    staysHeld(a);
    assertThat(other.tryAcquire()).isEmpty();
    a.close();
    taken(other).close();
    oneTokenIsLeft();
  }

  /** Not with a reason that takes the crash for a hold that was too long. */
  @Tag("defect-S5")
  @ParameterizedTest
  @EnumSource(names = {"PUSHED", "VERIFIED"})
  void theHolderByAConsumerIsToldOfACrash(Way way) throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    Lease a = hold(here.tokenSemaphore("s"), others.tokenSemaphore("s"), way);
    broker.faults().crashQueue(queue(a.lock()));
    await()
        .atMost(Fixture.AT_ONCE)
        .untilAsserted(() -> assertThat(a.state()).isEqualTo(LeaseState.LOST));
    assertThat(a.lossReason().orElseThrow().cause()).isEqualTo(Cause.REVOKED);
  }

  /** No question is answered from then on: to ask why took half a second, each time. */
  @Tag("defect-S5")
  @Test
  void theHolderByAConsumerIsLostBeforeAnybodyAsksWhy() throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    List<Duration> held = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      try (TcpProxy proxy = TcpProxy.to(broker)) {
        ConnectionFactory factory = broker.connectionFactory();
        factory.setHost(proxy.host());
        factory.setPort(proxy.port());
        AmqpLocks locks = fixture.open(fixture.seldomVerifying(factory));
        Lease a = hold(locks.tokenSemaphore("s"), others.tokenSemaphore("s"), Way.PUSHED);
        proxy.blackHole(Direction.CLIENT_TO_BROKER);
        broker.faults().crashQueue(queue(a.lock()));
        long crashed = System.nanoTime();
        await()
            .atMost(Fixture.AT_ONCE)
            .pollInterval(Duration.ofMillis(2))
            .until(() -> a.state() == LeaseState.LOST);
        held.add(Duration.ofNanos(System.nanoTime() - crashed));
        // Or the next one waits for it: a proxy that swallows all knows of no end.
        proxy.heal();
        proxy.cut();
      }
    }
    // The least, since a busy machine makes the others late.
    held.sort(null);
    assertThat(held.get(0)).as("%s", held).isLessThan(Duration.ofMillis(400));
  }

  /** With 2 of 3 tokens held and verified all the time, the third is never out of reach. */
  @ParameterizedTest
  @EnumSource
  void aVerificationHidesNoIdleToken(TokenQueueType type) throws Exception {
    admin.create(3, type);
    List<Lease> held = new ArrayList<>();
    held.add(here.tokenSemaphore("s").tryAcquire().orElseThrow());
    held.add(here.tokenSemaphore("s").tryAcquire().orElseThrow());
    CompletableFuture<Void> verifying = new CompletableFuture<>();
    List<Thread> verifiers = new ArrayList<>();
    for (Lease lease : held) {
      Thread verifier =
          new Thread(
              () -> {
                while (!verifying.isDone()) {
                  // A machine that stalls for seconds may leave it without an answer.
                  if (lease.verify() == LeaseState.LOST) {
                    verifying.completeExceptionally(
                        new AssertionError(lease + " " + lease.lossReason()));
                  }
                }
              });
      verifier.start();
      verifiers.add(verifier);
    }
    int leastBusy = Integer.MAX_VALUE;
    // A token that is hidden shows in each of them; one that is slow in some.
    for (int batch = 0; batch < 3 && leastBusy >= 15; batch++) {
      leastBusy = Math.min(leastBusy, busyTries(verifying));
    }
    verifying.complete(null);
    for (Thread verifier : verifiers) {
      verifier.join();
    }
    verifying.get();
    // The only idle one may be on its way back when it is asked for, more often on a busy machine.
    assertThat(leastBusy).isLessThan(15);
    assertThat(held).extracting(Lease::slot).doesNotHaveDuplicates();
    held.forEach(Lease::close);
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(3, 3, 0, 0, Set.of(), false));
  }

  /** How many of 300 tries of the third slot find it busy. */
  private int busyTries(CompletableFuture<Void> verifying) throws Exception {
    int busy = 0;
    for (int i = 0; i < 300 && !verifying.isDone(); i++) {
      AmqpLock other = others.tokenSemaphore("s");
      Optional<Lease> found = other.tryAcquire();
      // Counted once, for a busy machine makes it last.
      busy += found.isEmpty() ? 1 : 0;
      Lease third = found.orElseGet(() -> taken(other));
      if (i % 10 == 0) {
        staysHeld(third);
      }
      third.close();
    }
    return busy;
  }

  /** To be verified, a token needs a second channel for a moment. */
  @Test
  void thoseWhoUseUpAllChannelsAreVerified() {
    admin.create(20, TokenQueueType.CLASSIC);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setRequestedChannelMax(16);
    AmqpLock lock = fixture.open(fixture.builder(factory)).tokenSemaphore("s");
    List<Lease> leases = new ArrayList<>();
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 20; i++) {
                leases.add(lock.tryAcquire().orElseThrow());
              }
            })
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("channel_max");
    leases.forEach(TokenGivenAwayTest::staysHeld);
    assertThat(leases).hasSizeGreaterThan(10).extracting(Lease::slot).doesNotHaveDuplicates();
    leases.forEach(Lease::close);
  }

  /** A fenced lease stays in its slot, idle ones or not, and keeps its number. */
  @Tag("defect-S1")
  @Test
  void aFencedLeaseKeepsItsSlotAndItsNumber() {
    admin.create(3, TokenQueueType.QUORUM);
    Lease lease = here.tokenSemaphore("s").fenced().tryAcquire().orElseThrow();
    FencingToken number = lease.fencingToken();
    staysHeld(lease);
    List<Lease> rest = new ArrayList<>();
    rest.add(taken(others.tokenSemaphore("s")));
    rest.add(taken(others.tokenSemaphore("s")));
    staysHeld(lease);
    rest.forEach(Lease::close);
    staysHeld(lease);
    assertThat(lease.fencingToken()).isEqualTo(number);
    assertThat(lease.slot()).isEqualTo(number.slot());
  }

  /**
   * Those who waited are refused a fencing token; a token that one of them was sent is nobody's.
   */
  @Tag("defect-S3")
  @ParameterizedTest
  @CsvSource({"4, 5"})
  void aRefusedWaiterReleasesItsTokenOnce(int waiters, int rounds) throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    others.admin().tokenSemaphore("unrelated").create(3, TokenQueueType.CLASSIC);
    for (int i = 0; i < rounds; i++) {
      Lease theirs = taken(others.tokenSemaphore("s"));
      int before = consumers();
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (int w = 0; w < waiters; w++) {
        waiting.add(here.tokenSemaphore("s").fenced().acquireAsync(Duration.ofMinutes(1)));
      }
      await().until(() -> consumers() > before);
      theirs.close();
      for (CompletableFuture<Lease> each : waiting) {
        assertThat(each)
            .failsWithin(Duration.ofSeconds(30))
            .withThrowableThat()
            .withCauseInstanceOf(LockException.FenceUnavailable.class);
      }
      List<Lease> leases = new ArrayList<>();
      for (int n = 0; n < 5; n++) {
        here.tokenSemaphore("unrelated").tryAcquire().ifPresent(leases::add);
        others.tokenSemaphore("unrelated").tryAcquire().ifPresent(leases::add);
      }
      assertThat(leases).hasSize(3);
      leases.forEach(Tokens::verified);
      leases.forEach(Lease::close);
    }
  }
}
