package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.lock.TokenAudit;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The broker gives a token away and does not say so: the holder must find out, and nobody else lose. */
@BrokerTest(everyLine = true)
class TokenGivenAwayTest {

  enum Way {
    BY_GET,
    PUSHED,
    VERIFIED
  }

  private Broker broker;
  private Fixture fixture;
  private AmqpLocks here;
  private AmqpLocks others;
  private TokenSemaphoreAdmin admin;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    fixture = new Fixture(broker);
    // Nobody verifies but the test.
    here = fixture.open(fixture.seldomVerifying());
    others = fixture.open(fixture.seldomVerifying());
    admin = others.admin().tokenSemaphore("s");
  }

  @AfterEach
  void close() throws Exception {
    fixture.close();
    Tokens.clear(broker, fixture.prefix());
  }

  private String queue(LockId lock) {
    return fixture.names().tokens(lock, Tokens.generation(broker, fixture.names(), lock));
  }

  private int consumers() throws Exception {
    return Tokens.consumers(broker, fixture.names(), LockId.tokenSemaphore("s"));
  }

  /** A lease of the only token, had in that way. */
  private Lease hold(AmqpLock lock, AmqpLock other, Way way) throws Exception {
    if (way == Way.PUSHED) {
      Lease theirs = other.tryAcquire().orElseThrow();
      int before = consumers();
      CompletableFuture<Lease> waiting = lock.acquireAsync(Duration.ofMinutes(1));
      await().until(() -> consumers() > before);
      theirs.close();
      return waiting.get(60, TimeUnit.SECONDS);
    }
    Lease lease = lock.tryAcquire().orElseThrow();
    if (way == Way.VERIFIED) {
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
    return lease;
  }

  private static Lease taken(AmqpLock lock) {
    return await()
        .pollInterval(Duration.ofMillis(5))
        .until(lock::tryAcquire, Optional::isPresent)
        .orElseThrow();
  }

  private static void staysHeld(Lease lease) {
    for (int i = 0; i < 3; i++) {
      assertThat(lease.verify()).as("%s %s", lease, lease.lossReason()).isEqualTo(LeaseState.HELD);
    }
  }

  private void oneTokenIsLeft() {
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(1, 1, 0, 0, Set.of(), false));
  }

  /** A classic queue that is started anew knows of no holder, and gives its tokens to whoever asks. */
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

  @Tag("defect-S2")
  @ParameterizedTest
  @EnumSource
  void aCrashedQuorumQueueKeepsItsHolder(Way way) throws Exception {
    admin.create(1, TokenQueueType.QUORUM);
    AmqpLock other = others.tokenSemaphore("s");
    Lease a = hold(here.tokenSemaphore("s"), other, way);
    broker.faults().crashQueue(queue(a.lock()));
    assertThat(other.tryAcquire()).isEmpty();
    staysHeld(a);
    assertThat(other.tryAcquire()).isEmpty();
    a.close();
    taken(other).close();
    oneTokenIsLeft();
  }

  /** Not with a reason that takes the crash for a hold that was too long. */
  @Tag("defect-S5")
  @Test
  void theHolderByAConsumerIsToldOfACrash() throws Exception {
    admin.create(1, TokenQueueType.CLASSIC);
    Lease a = hold(here.tokenSemaphore("s"), others.tokenSemaphore("s"), Way.PUSHED);
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

  @Tag("defect-S2")
  @ParameterizedTest
  @EnumSource
  void aQuorumQueueThatGaveTheTokenAwayIsFoundOut(Way way) throws Exception {
    assumeThat(broker.version().isAtLeast(4, 3)).as("gives away at once").isFalse();
    admin.create(1, TokenQueueType.QUORUM);
    Lease a = hold(here.tokenSemaphore("s").fenced(), others.tokenSemaphore("s"), way);
    FencingToken number = a.fencingToken();
    Lease b = givenTo(others, a);
    assertThat(b.fencingToken().number()).isGreaterThan(number.number());
    assertThat(a.verify()).isEqualTo(LeaseState.LOST);
    assertThat(a.fencingToken()).isEqualTo(number);
    staysHeld(b);
    a.close();
    b.close();
    taken(here.tokenSemaphore("s")).close();
    oneTokenIsLeft();
  }

  /** What A's consumer is sent unasked says that its token had been given away. */
  @Tag("defect-S1")
  @ParameterizedTest
  @EnumSource(names = {"PUSHED", "VERIFIED"})
  void aSecondTokenIsALoss(Way way) throws Exception {
    assumeThat(broker.version().isAtLeast(4, 3)).as("gives away at once").isFalse();
    admin.create(1, TokenQueueType.QUORUM);
    Lease a = hold(here.tokenSemaphore("s").fenced(), others.tokenSemaphore("s"), way);
    FencingToken number = a.fencingToken();
    Lease b = givenTo(others, a);
    b.close();
    await()
        .atMost(Fixture.AT_ONCE)
        .untilAsserted(() -> assertThat(a.state()).isEqualTo(LeaseState.LOST));
    assertThat(a.lossReason().orElseThrow().cause()).isEqualTo(Cause.REVOKED);
    assertThat(a.fencingToken()).isEqualTo(number);
    Lease next = taken(others.tokenSemaphore("s").fenced());
    // One for each time that the token changed hands, and few more: it does not go round and round.
    assertThat(next.fencingToken().number()).isBetween(number.number() + 2, number.number() + 6);
    next.close();
    oneTokenIsLeft();
  }

  /** It lies there again when A asks, but was another's meanwhile, whose number is higher. */
  @Tag("defect-S1")
  @Test
  void aTokenThatAnotherHadMeanwhileIsLostThoughItComesBack() throws Exception {
    assumeThat(broker.version().isAtLeast(4, 3)).as("gives away at once").isFalse();
    Lease a = here.fencedMutex("m").tryAcquire().orElseThrow();
    FencingToken number = a.fencingToken();
    broker.faults().dropLinkTo(queue(a.lock()));
    Lease b = taken(others.fencedMutex("m"));
    assertThat(b.fencingToken().number()).isGreaterThan(number.number());
    b.close();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      String queue = queue(a.lock());
      await().until(() -> channel.messageCount(queue) == 1);
    }
    assertThat(a.verify()).isEqualTo(LeaseState.LOST);
    assertThat(a.lossReason().orElseThrow().detail()).contains("somebody else had it");
    assertThat(a.fencingToken()).isEqualTo(number);
    a.close();
    taken(others.fencedMutex("m")).close();
  }

  /** The queue gives A's token to somebody else, who waits for it with a higher priority. */
  private Lease givenTo(AmqpLocks to, Lease a) throws Exception {
    int before = consumers();
    CompletableFuture<Lease> waiting =
        to.tokenSemaphore("s").fenced().withPriority(9).acquireAsync(Duration.ofMinutes(1));
    await().until(() -> consumers() > before);
    broker.faults().dropLinkTo(queue(a.lock()));
    return waiting.get(60, TimeUnit.SECONDS);
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
                  if (lease.verify() != LeaseState.HELD) {
                    verifying.completeExceptionally(
                        new AssertionError(lease + " " + lease.lossReason()));
                  }
                }
              });
      verifier.start();
      verifiers.add(verifier);
    }
    int busy = 0;
    for (int i = 0; i < 300 && !verifying.isDone(); i++) {
      Optional<Lease> third = others.tokenSemaphore("s").tryAcquire();
      if (third.isEmpty()) {
        busy++;
      } else {
        if (i % 10 == 0) {
          staysHeld(third.get());
        }
        third.get().close();
      }
    }
    verifying.complete(null);
    for (Thread verifier : verifiers) {
      verifier.join();
    }
    verifying.get();
    // The only idle one may be on its way back when it is asked for.
    assertThat(busy).isLessThan(3);
    assertThat(held).extracting(Lease::slot).doesNotHaveDuplicates();
    held.forEach(Lease::close);
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(3, 3, 0, 0, Set.of(), false));
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

  /** Those who waited are refused a fencing token; a token that one of them was sent is nobody's. */
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
      leases.forEach(lease -> assertThat(lease.verify()).isEqualTo(LeaseState.HELD));
      leases.forEach(Lease::close);
    }
  }
}
