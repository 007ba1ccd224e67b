package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason.Cause;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holders of tokens learn, and when, if their token, its queue or the way to it is gone. */
@BrokerTest(everyLine = true)
class TokenVerificationTest {

  /** Of the fixture; leases are verified twice in it, and certain for one and three quarters of it. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(2);

  private static final Duration PERIOD = HEARTBEAT.dividedBy(2);
  private static final Duration CERTAIN = Duration.ofMillis(3500);
  private static final Duration SLACK = Duration.ofMillis(600);

  private Broker broker;
  private Fixture fixture;
  private AmqpLocks others;
  private TokenSemaphoreAdmin admin;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    fixture = new Fixture(broker);
    others = fixture.open();
    admin = others.admin().tokenSemaphore("s");
  }

  @AfterEach
  void close() throws Exception {
    broker.faults().heal();
    fixture.close();
    Tokens.clear(broker, fixture.prefix());
  }

  private AmqpLocks through(TcpProxy proxy) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return fixture.open(fixture.builder(factory).callTimeout(Duration.ofSeconds(1)));
  }

  /** A lease of the only token that others have so far. */
  private Lease pushed(AmqpLock lock, Lease theirs) throws Exception {
    CompletableFuture<Lease> waiting = lock.acquireAsync(Duration.ofSeconds(20));
    theBrokerKnows();
    theirs.close();
    return waiting.get(10, TimeUnit.SECONDS);
  }

  private static void becomes(LeaseState state, Lease lease, Duration atMost) {
    await()
        .pollInterval(Duration.ofMillis(5))
        .atMost(atMost)
        .untilAsserted(() -> assertThat(lease.state()).isEqualTo(state));
  }

  private static void theBrokerKnows() {
    await().pollDelay(Duration.ofMillis(150)).until(() -> true);
  }

  private static Duration since(long nanos) {
    return Duration.ofNanos(System.nanoTime() - nanos);
  }

  private static Cause cause(Lease lease) {
    return lease.lossReason().orElseThrow().cause();
  }

  @ParameterizedTest
  @EnumSource
  void aDestroyedSemaphoreIsNoticed(TokenQueueType type) throws Exception {
    admin.create(2, type);
    AmqpLock lock = fixture.open().tokenSemaphore("s");
    Lease theirs = others.tokenSemaphore("s").tryAcquire().orElseThrow();
    Lease taken = lock.tryAcquire().orElseThrow();
    Lease pushed = pushed(lock, theirs);
    assertThat(List.of(taken.verify(), pushed.verify())).containsOnly(LeaseState.HELD);
    admin.destroy();
    // The broker ends the consumer of the one; the other has to ask.
    becomes(LeaseState.LOST, pushed, SLACK);
    becomes(LeaseState.LOST, taken, PERIOD.plus(SLACK));
    assertThat(List.of(cause(taken), cause(pushed))).containsOnly(Cause.REVOKED);
    assertThat(taken.lossReason().orElseThrow().detail()).containsAnyOf("was deleted", "no queue");
    // What is made anew has nothing to do with them.
    admin.create(1, type);
    lock.tryAcquire().orElseThrow().close();
    assertThat(List.of(taken.state(), pushed.state())).containsOnly(LeaseState.LOST);
  }

  @ParameterizedTest
  @EnumSource
  void aCutConnectionIsReportedAtOnce(TokenQueueType type) throws Exception {
    admin.create(2, type);
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLock lock = through(proxy).tokenSemaphore("s");
      Lease theirs = others.tokenSemaphore("s").tryAcquire().orElseThrow();
      Lease taken = lock.tryAcquire().orElseThrow();
      Lease pushed = pushed(lock, theirs);
      proxy.reset();
      becomes(LeaseState.LOST, taken, SLACK);
      becomes(LeaseState.LOST, pushed, SLACK);
      assertThat(List.of(cause(taken), cause(pushed))).containsOnly(Cause.SESSION_ENDED);
      await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(2));
    }
  }

  /** The third heartbeat without an answer ends all; the client library may find out earlier. */
  @Tag("trap-5")
  @Test
  void aFrozenBrokerMakesLeasesUncertainAndThenLost() throws Exception {
    AmqpLocks locks = fixture.open();
    List<Lease> leases = new ArrayList<>();
    for (TokenQueueType type : TokenQueueType.values()) {
      others.admin().tokenSemaphore(type.name()).create(1, type);
      leases.add(locks.tokenSemaphore(type.name()).tryAcquire().orElseThrow());
    }
    broker.faults().freeze();
    long start = System.nanoTime();
    try {
      for (Lease lease : leases) {
        becomes(LeaseState.UNCERTAIN, lease, CERTAIN.plus(SLACK));
      }
      for (Lease lease : leases) {
        becomes(LeaseState.LOST, lease, HEARTBEAT.multipliedBy(3));
        assertThat(cause(lease)).isIn(Cause.EXPIRED, Cause.SESSION_ENDED);
      }
      assertThat(since(start)).isLessThan(HEARTBEAT.multipliedBy(3).plus(SLACK));
    } finally {
      broker.faults().thaw();
    }
  }

  /** A message that the broker sends does not say that it hears us. */
  @Tag("trap-5")
  @Test
  void pushedTokensAreBelievedNoLongerThanTheirProof() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      AmqpLocks locks = through(proxy);
      List<Lease> held = new ArrayList<>();
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      for (TokenQueueType type : TokenQueueType.values()) {
        others.admin().tokenSemaphore(type.name()).create(1, type);
        held.add(others.tokenSemaphore(type.name()).tryAcquire().orElseThrow());
        waiting.add(locks.tokenSemaphore(type.name()).acquireAsync(Duration.ofSeconds(20)));
      }
      theBrokerKnows();
      // Both sessions have just asked something; from now on nothing of theirs arrives.
      proxy.blackHole(Direction.CLIENT_TO_BROKER);
      long unheard = System.nanoTime();
      await().pollDelay(Duration.ofMillis(400)).until(() -> true);
      held.forEach(Lease::close);
      List<Lease> pushed = new ArrayList<>();
      for (CompletableFuture<Lease> each : waiting) {
        pushed.add(each.get(5, TimeUnit.SECONDS));
      }
      assertThat(since(unheard)).isGreaterThan(Duration.ofMillis(400));
      for (Lease lease : pushed) {
        becomes(LeaseState.UNCERTAIN, lease, CERTAIN);
        assertThat(since(unheard)).isLessThan(CERTAIN.plus(Duration.ofMillis(200)));
      }
    }
  }
}
