package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason.Cause;
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
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What holders of tokens learn, and when, if their token, its queue or the way to it is gone. */
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class TokenVerificationTest {

  /** For so many a lease is certain without an answer. */
  private static final double CERTAIN_HEARTBEATS = 1.75;

  /** Less than two heartbeats of the fixture, so what comes by then did not need them. */
  private static final Duration SOON = Duration.ofSeconds(15);

  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks others;
  private TokenSemaphoreAdmin admin;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    others = fixture.open();
    admin = others.admin().tokenSemaphore("s");
  }

  @AfterEach
  void close() throws Exception {
    broker.faults().heal();
  }

  private AmqpLocksBuilder through(TcpProxy proxy) {
    return fixture.builder(way(proxy));
  }

  private ConnectionFactory way(TcpProxy proxy) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return factory;
  }

  /** A lease of the token that others have; the other one is taken. */
  private Lease pushed(AmqpLock lock, Lease theirs, Lease taken) throws Exception {
    heldByConsumers("s", List.of(theirs, taken));
    CompletableFuture<Lease> waiting = lock.acquireAsync(Duration.ofMinutes(1));
    await().until(() -> consumers("s") > 2);
    theirs.close();
    return waiting.get(60, TimeUnit.SECONDS);
  }

  /** From then on no verification changes their number, as the first one of a lease does. */
  private void heldByConsumers(String name, List<Lease> leases) {
    await()
        .until(
            () -> {
              leases.forEach(Lease::verify);
              return consumers(name) == leases.size();
            });
  }

  private static void becomes(LeaseState state, Lease lease) {
    await().atMost(SOON).untilAsserted(() -> assertThat(lease.state()).isEqualTo(state));
  }

  private int consumers(String name) throws Exception {
    return Tokens.consumers(broker, fixture.names(), LockId.tokenSemaphore(name));
  }

  private static void passes(long start, double millis) {
    await().until(() -> System.nanoTime() - start > millis * 1e6);
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
    Lease taken = Fixture.first(lock);
    Lease pushed = pushed(lock, theirs, taken);
    Tokens.verified(taken);
    Tokens.verified(pushed);
    admin.destroy();
    // The broker ends the consumer of the one; the other has to ask.
    becomes(LeaseState.LOST, pushed);
    becomes(LeaseState.LOST, taken);
    assertThat(cause(taken)).isEqualTo(Cause.REVOKED);
    assertThat(cause(pushed)).isEqualTo(Cause.REVOKED);
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
      // Who was not told would find it out after half a minute.
      AmqpLock lock = fixture.open(fixture.seldomVerifying(way(proxy))).tokenSemaphore("s");
      Lease theirs = others.tokenSemaphore("s").tryAcquire().orElseThrow();
      Lease taken = Fixture.first(lock);
      Lease pushed = pushed(lock, theirs, taken);
      proxy.reset();
      becomes(LeaseState.LOST, taken);
      becomes(LeaseState.LOST, pushed);
      assertThat(List.of(cause(taken), cause(pushed))).containsOnly(Cause.SESSION_ENDED);
      await().untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(2));
    }
  }

  /** The third heartbeat without an answer ends all; the client library may find out earlier. */
  @Tag("trap-5")
  @Test
  void aFrozenBrokerMakesLeasesUncertainAndThenLost() throws Exception {
    Duration heartbeat = Duration.ofSeconds(3);
    AmqpLocks locks = fixture.open(fixture.builder().heartbeat(heartbeat).callTimeout(heartbeat));
    List<Lease> leases = new ArrayList<>();
    for (TokenQueueType type : TokenQueueType.values()) {
      others.admin().tokenSemaphore(type.name()).create(1, type);
      // Its calls are short, and a busy machine may need several.
      leases.add(Fixture.first(locks.tokenSemaphore(type.name())));
    }
    broker.faults().freeze();
    long start = System.nanoTime();
    try {
      // Looked at when it must have happened, not timed: a slow machine sees no more than is so.
      passes(start, CERTAIN_HEARTBEATS * heartbeat.toMillis());
      assertThat(leases).extracting(Lease::state).doesNotContain(LeaseState.HELD);
      passes(start, 3.0 * heartbeat.toMillis());
      await()
          .untilAsserted(
              () -> assertThat(leases).extracting(Lease::state).containsOnly(LeaseState.LOST));
      for (Lease lease : leases) {
        assertThat(cause(lease)).isIn(Cause.EXPIRED, Cause.SESSION_ENDED);
      }
    } finally {
      broker.faults().thaw();
    }
  }

  /** A message that the broker sends does not say that it hears us. */
  @Tag("trap-5")
  @Test
  void pushedTokensAreBelievedNoLongerThanTheirProof() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      Duration heartbeat = Duration.ofSeconds(10);
      AmqpLocks locks =
          fixture.open(through(proxy).heartbeat(heartbeat).callTimeout(Duration.ofSeconds(5)));
      List<Lease> held = new ArrayList<>();
      List<CompletableFuture<Lease>> waiting = new ArrayList<>();
      List<Lease> talking = new ArrayList<>();
      for (TokenQueueType type : TokenQueueType.values()) {
        // Verified each second. A waiter whose session was not answered for five would ask.
        String name = "talking-" + type;
        others.admin().tokenSemaphore(name).create(1, type);
        talking.add(locks.tokenSemaphore(name).acquire(Duration.ofMinutes(1)));
      }
      for (TokenQueueType type : TokenQueueType.values()) {
        others.admin().tokenSemaphore(type.name()).create(1, type);
        held.add(others.tokenSemaphore(type.name()).tryAcquire().orElseThrow());
        heldByConsumers(type.name(), held.subList(held.size() - 1, held.size()));
        waiting.add(locks.tokenSemaphore(type.name()).acquireAsync(Duration.ofMinutes(1)));
        await().until(() -> consumers(type.name()) > 1);
      }
      talking.forEach(Tokens::verified);
      // Both sessions have just asked something; from now on nothing of theirs arrives.
      proxy.blackHole(Direction.CLIENT_TO_BROKER);
      long unheard = System.nanoTime();
      // They would ask again after half a heartbeat without an answer.
      await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
      held.forEach(Lease::close);
      List<Lease> pushed = new ArrayList<>();
      for (CompletableFuture<Lease> each : waiting) {
        pushed.add(each.get(60, TimeUnit.SECONDS));
      }
      // Were they proven by what was pushed, they would be certain for a second longer.
      passes(unheard, CERTAIN_HEARTBEATS * heartbeat.toMillis());
      assertThat(pushed).extracting(Lease::state).doesNotContain(LeaseState.HELD);
    }
  }
}
