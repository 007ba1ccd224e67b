package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.support.SemaphoreKind;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * A broker that closes a connection ends its channels first, and reads nothing any more. What one
 * channel held may then be sent to a waiter on another one, before anybody hears of the end.
 */
@BrokerTest(everyLine = true)
class DyingConnectionTest {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final int LOCKS = 30;
  private static final int ROUNDS = 2;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final Recorder heard = new Recorder();

  @SuppressWarnings("NullAway.Init")
  private TcpProxy proxy;

  @AfterEach
  void end() {
    if (proxy != null) {
      proxy.close();
    }
  }

  private AmqpLocks behindProxy() {
    proxy = TcpProxy.to(fixture.broker());
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return fixture.open(fixture.seldomVerifying(factory).listener(heard));
  }

  private void make(AmqpLocks locks, LockId id) {
    if (id.kind() == LockKind.TOKEN_SEMAPHORE) {
      locks.admin().tokenSemaphore(id.name().value()).create(1, TokenQueueType.CLASSIC);
    }
  }

  /** The kinds whose waiters are sent something; the others ask for it. */
  @Tag("trap-19")
  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "TOKEN_SEMAPHORE", "FENCED_MUTEX"})
  void aWaiterAcquiresNothingOnAConnectionThatEnds(LockKind kind) throws Exception {
    AmqpLocks locks =
        fixture.open(fixture.seldomVerifying().connectionName(fixture.prefix()).listener(heard));
    List<LockId> ids =
        IntStream.range(0, LOCKS).mapToObj(i -> new LockId(kind, LockName.of("m" + i))).toList();
    List<Lease> held = new ArrayList<>();
    for (LockId id : ids) {
      make(locks, id);
      held.add(locks.lock(id).acquire(LONG));
    }
    String role = kind == LockKind.FENCED_MUTEX ? " quorum holder" : " holder";
    for (int round = 0; round < ROUNDS; round++) {
      List<CompletableFuture<Lease>> waiting =
          ids.stream().map(id -> locks.lock(id).acquireAsync(LONG)).toList();
      await().until(() -> locks.status().waiting() == LOCKS);
      fixture.broker().faults().closeConnections(fixture.prefix() + role, "a test");
      List<Lease> next = new ArrayList<>();
      for (CompletableFuture<Lease> each : waiting) {
        next.add(each.get(60, TimeUnit.SECONDS));
      }
      assertThat(held).extracting(Lease::state).containsOnly(LeaseState.LOST);
      assertThat(next).extracting(Lease::state).containsOnly(LeaseState.HELD);
      held = next;
    }
  }

  /**
   * The broker sends the waiter a slot, and hears nothing of its connection: so it might be ending.
   */
  @Tag("trap-19")
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SLOTS")
  void aHolderThatIsSentAnotherSlotAsksFirstWhetherItsConnectionStands(SemaphoreKind kind)
      throws Exception {
    AmqpLock others = kind.create(fixture, fixture.open(fixture.seldomVerifying()), "s", 2);
    Lease theirs = others.acquire(LONG);
    AmqpLocks locks = behindProxy();
    Lease ours = kind.of(locks, "s").acquire(LONG);
    int before = consumers("s");
    CompletableFuture<Lease> waiting = kind.of(locks, "s").acquireAsync(LONG);
    await().until(() -> consumers("s") > before);
    proxy.blackHole(Direction.CLIENT_TO_BROKER);
    theirs.close();
    await().during(Duration.ofMillis(500)).until(() -> !waiting.isDone());
    proxy.heal();
    proxy.cut();
    Tokens.verified(waiting.get(60, TimeUnit.SECONDS));
    assertThat(ours.state()).isEqualTo(LeaseState.LOST);
    await().until(() -> heard.heard.stream().anyMatch(each -> each.startsWith("lost")));
    assertThat(heard.heard).filteredOn(each -> each.startsWith("lost")).hasSize(1);
  }

  /**
   * The broker says that it closes the connection, frees the locks, and waits for an answer that
   * never comes. The client closes its socket ten seconds later.
   */
  @Test
  void holdersAreToldBeforeTheSocketIsClosed() throws Exception {
    proxy = TcpProxy.to(fixture.broker());
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    AmqpLocks locks =
        fixture.open(fixture.seldomVerifying(factory).connectionName(fixture.prefix()));
    fixture.enable(locks, "p");
    make(locks, new LockId(LockKind.TOKEN_SEMAPHORE, LockName.of("t")));
    fixture.create(locks, "s", 1);
    List<Lease> leases = new ArrayList<>();
    for (AmqpLock lock :
        List.of(
            locks.mutex("m"),
            locks.exclusiveQueueMutex("x"),
            locks.persistentMutex("p"),
            locks.tokenSemaphore("t"),
            locks.slotSemaphore("s"),
            locks.readWriteLock("r").readLock(),
            locks.readWriteLock("w").writeLock())) {
      leases.add(lock.acquire(LONG));
    }
    List<LossReason> told = new CopyOnWriteArrayList<>();
    leases.forEach(lease -> lease.whenLost().thenAccept(told::add));
    proxy.blackHole(Direction.CLIENT_TO_BROKER);
    long start = System.nanoTime();
    fixture.broker().faults().closeConnections(fixture.prefix() + " holder", "a test");
    await().atMost(Fixture.AT_ONCE).until(() -> told.size() == leases.size());
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    assertThat(leases).extracting(Lease::state).containsOnly(LeaseState.LOST);
    assertThat(told).extracting(LossReason::cause).containsOnly(LossReason.Cause.SESSION_ENDED);
  }

  /** It costs no round trip where nothing can have come from another channel of the connection. */
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SLOTS")
  void aWaiterThatHoldsNoneIsServedAtOnce(SemaphoreKind kind) throws Exception {
    AmqpLock others = kind.create(fixture, fixture.open(fixture.seldomVerifying()), "s", 1);
    Lease theirs = others.acquire(LONG);
    AmqpLocks locks = behindProxy();
    int before = consumers("s");
    CompletableFuture<Lease> waiting = kind.of(locks, "s").acquireAsync(LONG);
    await().until(() -> consumers("s") > before);
    proxy.blackHole(Direction.CLIENT_TO_BROKER);
    theirs.close();
    assertThat(waiting).succeedsWithin(Fixture.AT_ONCE);
  }

  /**
   * One more when somebody begins to wait. Those who hold one change no number: the first
   * verification comes after half a minute.
   */
  private int consumers(String name) throws Exception {
    return Tokens.consumers(fixture.broker(), fixture.names(), LockId.tokenSemaphore(name));
  }
}
