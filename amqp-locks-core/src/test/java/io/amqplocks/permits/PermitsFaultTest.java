package io.amqplocks.permits;

import static io.amqplocks.support.SemaphoreKind.assertNoneIsFreeFor;
import static io.amqplocks.support.SemaphoreKind.awaitCollected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.CollectorMain;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.support.SemaphoreKind;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of several permits when a process, a connection, a slot or the turn is lost. */
@BrokerTest(everyLine = true)
class PermitsFaultTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration START = Duration.ofSeconds(90);

  /** By the heartbeats of the killed process, one each 5 s, it would take 15 s at least. */
  private static final Duration WITHIN = Duration.ofSeconds(12);

  @RegisterExtension private final Fixture fixture = new Fixture();

  /** A collector that is killed leaves neither its slots nor its turn behind. */
  @ParameterizedTest
  @EnumSource
  void aKilledCollectorFreesWhatItHad(SemaphoreKind kind) throws Exception {
    AmqpLocks locks = fixture.open();
    AmqpLock semaphore = kind.create(fixture, locks, "s", 4);
    try (Lease one = semaphore.acquire(LONG);
        ChildJvm collector =
            ChildJvm.of(CollectorMain.class)
                .args(fixture.broker().uri(), fixture.prefix(), kind.argument("s"), "4")
                .start()) {
      collector.awaitLine("WAITING", START);
      awaitCollected(fixture, semaphore);
      // Stands in line for the turn until the collector is gone.
      CompletableFuture<Lease> next = semaphore.withPermits(3).acquireAsync(LONG);
      await().until(() -> locks.status().waiting() == 1);
      assertThat(next).isNotDone();
      long killed = System.nanoTime();
      collector.killNow();
      try (Lease three = next.get(60, TimeUnit.SECONDS)) {
        Duration free = Duration.ofNanos(System.nanoTime() - killed);
        System.out.println(kind + " on RabbitMQ " + fixture.broker().version() + ": " + free);
        assertThat(free).isLessThan(WITHIN);
        Tokens.verified(three);
        Tokens.verified(one);
      }
    }
  }

  /** The connection breaks while some slots are held and others are waited for. */
  @ParameterizedTest
  @EnumSource
  void aCollectorWhoseConnectionBreaksBeginsAnew(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, fixture.open(), "s", 4);
    Lease one = semaphore.acquire(LONG);
    Recorder heard = new Recorder();
    AmqpLocks locks =
        fixture.open(fixture.builder().connectionName(fixture.prefix()).listener(heard));
    CompletableFuture<Lease> waiting = kind.of(locks, "s").withPermits(4).acquireAsync(LONG);
    awaitCollected(fixture, semaphore);
    Lease onTheSame = kind.create(fixture, locks, "canary", 1).acquire(LONG);
    String holder = kind == SemaphoreKind.QUORUM_TOKENS ? " quorum holder" : " holder";
    fixture.broker().faults().closeConnections(fixture.prefix() + holder, "a test");
    await().until(() -> onTheSame.state() == LeaseState.LOST);
    // It goes on by itself: the three are free for a moment, and are collected again.
    awaitCollected(fixture, semaphore);
    one.close();
    try (Lease four = waiting.get(60, TimeUnit.SECONDS)) {
      Tokens.verified(four);
      assertThat(semaphore.tryAcquire()).isEmpty();
    }
    assertThat(heard.heard).noneMatch(each -> each.startsWith("lost " + semaphore.id()));
  }

  /** Only the connections break that hold nothing, and cannot be opened again for a while. */
  @ParameterizedTest
  @EnumSource
  void aCollectorKeepsWhatItHasWhenItsOtherConnectionsBreak(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, fixture.open(), "s", 4);
    Lease one = semaphore.acquire(LONG);
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      ConnectionFactory factory = fixture.broker().connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks =
          fixture.open(fixture.builder(factory).connectionName(fixture.prefix() + "it"));
      CompletableFuture<Lease> waiting = kind.of(locks, "s").withPermits(4).acquireAsync(LONG);
      awaitCollected(fixture, semaphore);
      proxy.refuse(true);
      fixture.closeConnectionsThatHoldNothing(fixture.prefix() + "it");
      assertNoneIsFreeFor(semaphore, Duration.ofSeconds(7));
      proxy.refuse(false);
      one.close();
      try (Lease four = waiting.get(60, TimeUnit.SECONDS)) {
        Tokens.verified(four);
        assertThat(semaphore.tryAcquire()).isEmpty();
        if (kind == SemaphoreKind.QUORUM_TOKENS) {
          assertThat(four.fencingTokens())
              .extracting(FencingToken::slot)
              .containsExactlyInAnyOrder(1, 2, 3, 4);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void itEndsWithItsConnection(SemaphoreKind kind) throws Exception {
    AmqpLock semaphore = kind.create(fixture, fixture.open(), "s", 3);
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(fixture.prefix()));
    Lease three = kind.of(locks, "s").acquire(3, LONG);
    String holder = kind == SemaphoreKind.QUORUM_TOKENS ? " quorum holder" : " holder";
    fixture.broker().faults().closeConnections(fixture.prefix() + holder, "a test");
    LossReason reason = three.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS);
    assertThat(reason.cause()).isEqualTo(Cause.SESSION_ENDED);
    assertThat(three.state()).isEqualTo(LeaseState.LOST);
    semaphore.acquire(3, LONG).close();
  }

  /** The loss of one is the loss of all: the holder is told at once, and the others are free. */
  @Test
  void oneThatIsLostTakesTheOthersAlong(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    AmqpLock semaphore = SemaphoreKind.SLOTS.create(fixture, locks, "s", 3);
    Lease three = semaphore.acquire(3, LONG);
    broker.faults().deleteQueue(fixture.names().holder(LockName.of("s"), 2));
    LossReason reason =
        three.whenLost().toCompletableFuture().get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(reason.cause()).isEqualTo(Cause.REVOKED);
    assertThat(reason.detail()).contains("one of 3 permits was lost").contains(".holder.2");
    assertThat(three.state()).isEqualTo(LeaseState.LOST);
    assertThat(locks.leases()).isEmpty();
    fixture.open().slotSemaphore("s").acquire(3, LONG).close();
  }

  /** A slot that an administrator removed is found out by a verification, as of a lease of one. */
  @Test
  void aSlotThatIsRemovedTakesTheOthersAlong() throws Exception {
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    AmqpLock semaphore = SemaphoreKind.SLOTS.create(fixture, locks, "s", 3);
    Lease three = semaphore.acquire(3, LONG);
    var unused = locks.admin().slotSemaphore("s").resize(2);
    assertThat(three.verify()).isEqualTo(LeaseState.LOST);
    assertThat(three.lossReason().orElseThrow().cause()).isEqualTo(Cause.SLOT_REMOVED);
    fixture.open().slotSemaphore("s").acquire(2, LONG).close();
  }

  /** Whoever lost the turn gives back what it collected, and stands in line again. */
  @ParameterizedTest
  @EnumSource
  void aCollectorThatLosesItsTurnStandsInLineAgain(SemaphoreKind kind) throws Exception {
    LockId id = kind.id("s");
    AmqpLock semaphore = kind.create(fixture, fixture.open(), "s", 4);
    Lease one = semaphore.acquire(LONG);
    CompletableFuture<Lease> waiting =
        kind.of(fixture.open(), "s").withPermits(4).acquireAsync(LONG);
    awaitCollected(fixture, semaphore);
    fixture.broker().faults().deleteQueue(fixture.names().permits(id));
    awaitCollected(fixture, semaphore);
    await().until(() -> fixture.exists(fixture.names().permits(id)));
    one.close();
    waiting.get(60, TimeUnit.SECONDS).close();
    semaphore.acquire(4, LONG).close();
  }
}
