package io.amqplocks.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.lock.SlotOrder;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.HolderMain;
import io.amqplocks.support.LogWatch;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Slot semaphores on the broker in the JVM, where who is too late for an exclusive queue loses its
 * connection.
 */
@BrokerTest(embedded = true)
class EmbeddedSlotsTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  private SlotSemaphoreAdmin create(String name, int slots) {
    SlotSemaphoreAdmin admin = fixture.open().admin().slotSemaphore(name);
    admin.create(slots);
    return admin;
  }

  private OpenedConnections connections() throws Exception {
    return new OpenedConnections(fixture.broker());
  }

  /** A client that remembers its slot tries it without a look, and so loses the race for it. */
  private AmqpLocksBuilder remembering(OpenedConnections opened) {
    return fixture.builder(opened).slotOrder(SlotOrder.REMEMBERED);
  }

  /** The broker cuts off what it says of a lost race, in the middle of such a name. */
  @Test
  void aLostRaceForALongNameIsOne() throws Exception {
    String name = "s".repeat(200);
    create(name, 1);
    OpenedConnections opened = connections();
    AmqpLock contended = fixture.open(remembering(opened)).slotSemaphore(name);
    // A memory that is a second old is looked at again, and then there is no race. So this one is
    // connected before.
    AmqpLock other = fixture.connected(fixture.builder()).slotSemaphore(name);
    await()
        .until(
            () -> {
              contended.acquire(LONG).close();
              try (Lease theirs = Fixture.first(other)) {
                assertThat(contended.tryAcquire()).isEmpty();
                assertThat(theirs.slot()).isEqualTo(1);
              }
              return opened.lostRaces() > 0;
            });
  }

  /** The promise: a contender risks its own connection, and never another lease. */
  @Test
  void aLostRaceCostsNoLease() throws Exception {
    create("s", 1);
    create("other", 2);
    fixture.open().admin().tokenSemaphore("tokens").create(1, TokenQueueType.CLASSIC);
    OpenedConnections opened = connections();
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(remembering(opened).listener(recorder));
    List<Lease> held =
        List.of(
            locks.mutex("m").acquire(LONG),
            locks.tokenSemaphore("tokens").acquire(LONG),
            locks.slotSemaphore("other").acquire(2, LONG));
    AmqpLock contended = locks.slotSemaphore("s");
    long before = opened.lostRaces();
    AmqpLock other = fixture.connected(fixture.builder()).slotSemaphore("s");
    // A memory that is a second old is looked at again, and then there is no race.
    await()
        .until(
            () -> {
              contended.acquire(LONG).close();
              try (Lease theirs = Fixture.first(other)) {
                assertThat(contended.tryAcquire()).isEmpty();
                assertThat(theirs.verify()).isEqualTo(LeaseState.HELD);
              }
              return opened.lostRaces() - before >= 3;
            });
    assertThat(held).allMatch(lease -> lease.state() == LeaseState.HELD);
    assertThat(held).allMatch(lease -> lease.verify() == LeaseState.HELD);
    assertThat(recorder.heard)
        .filteredOn(heard -> heard.startsWith("session") || heard.startsWith("lost"))
        .containsExactly("session opened");
    contended.acquire(LONG).close();
  }

  /** Races of threads and of processes, beside a lease that must last. */
  @Test
  void racesOfAllKindsCostNoLease() throws Exception {
    create("s", 3);
    create("kept", 1);
    OpenedConnections opened = connections();
    List<AmqpLocks> clients =
        List.of(fixture.open(remembering(opened)), fixture.open(remembering(opened)));
    List<Lease> kept =
        List.of(
            clients.get(0).slotSemaphore("kept").acquire(LONG),
            clients.get(1).mutex("kept").acquire(LONG));
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CyclicBarrier start = new CyclicBarrier(8);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      AmqpLock semaphore = clients.get(i % 2).slotSemaphore("s");
      all.add(
          threads.submit(
              () -> {
                for (int n = 0; n < 20; n++) {
                  start.await();
                  Optional<Lease> lease = semaphore.tryAcquire();
                  if (lease.isPresent()) {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    assertThat(lease.get().verify()).isEqualTo(LeaseState.HELD);
                    inside.decrementAndGet();
                    lease.get().close();
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(2, TimeUnit.MINUTES);
    }
    assertThat(most.get()).isBetween(1, 3);
    assertThat(opened.lostRaces()).isPositive();
    assertThat(kept).allMatch(lease -> lease.verify() == LeaseState.HELD);
    assertThat(opened.ofOneLease()).hasSize(1);
  }

  @Test
  void theConnectionOfALeaseEndsWithIt() throws Exception {
    create("s", 2);
    OpenedConnections opened = connections();
    AmqpLocks locks = fixture.open(fixture.builder(opened));
    Lease one = locks.slotSemaphore("s").acquire(LONG);
    Lease two = locks.slotSemaphore("s").acquire(LONG);
    assertThat(opened.ofOneLease()).hasSize(2);
    one.close();
    assertThat(opened.ofOneLease()).hasSize(1);
    assertThat(two.verify()).isEqualTo(LeaseState.HELD);
    locks.close();
    assertThat(two.state()).isEqualTo(LeaseState.RELEASED);
    await().untilAsserted(() -> assertThat(opened.all()).noneMatch(Connection::isOpen));
    assertThat(fixture.open().admin().slotSemaphore("s").holders()).isEmpty();
  }

  /** The slot is won, and then there is no fencing token. */
  @Test
  void anAttemptThatFailsLeavesNoConnection() throws Exception {
    SlotSemaphoreAdmin admin = create("s", 1);
    OpenedConnections opened = connections();
    AmqpLock fenced = fixture.open(fixture.builder(opened)).slotSemaphore("s").fenced();
    assertThatThrownBy(fenced::tryAcquire).isInstanceOf(LockException.FenceUnavailable.class);
    assertThat(opened.all()).anyMatch(OpenedConnections::isOfOneLease);
    assertThat(opened.ofOneLease()).isEmpty();
    assertThat(admin.holders()).isEmpty();
  }

  /** The holder hears of it at once, others keep theirs, and the slot is the next one's. */
  @Test
  void aLostConnectionCostsItsLeaseAndNoOther() throws Exception {
    create("s", 1);
    create("other", 1);
    OpenedConnections opened = connections();
    AmqpLocks locks = fixture.open(fixture.seldomVerifying(opened));
    Lease lost = locks.slotSemaphore("s").acquire(LONG);
    Connection its = opened.ofOneLease().get(0);
    Lease kept = locks.slotSemaphore("other").acquire(LONG);
    AmqpLocks others = fixture.open();
    Future<Lease> next = threads.submit(() -> others.slotSemaphore("s").acquire(LONG));
    await().until(() -> others.status().waiting() == 1);
    its.abort(0);
    LossReason reason =
        lost.whenLost().toCompletableFuture().get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(reason.cause()).isEqualTo(LossReason.Cause.SESSION_ENDED);
    assertThat(lost.state()).isEqualTo(LeaseState.LOST);
    assertThat(kept.verify()).isEqualTo(LeaseState.HELD);
    assertThat(next.get(1, TimeUnit.MINUTES).verify()).isEqualTo(LeaseState.HELD);
  }

  /** The other way round, all are lost: a session is its connections and the leases on them. */
  @Test
  void theEndOfTheSessionEndsAllLeases() throws Exception {
    create("s", 1);
    OpenedConnections opened = connections();
    AmqpLocks locks = fixture.open(fixture.seldomVerifying(opened));
    locks.connect();
    Connection shared = opened.all().get(0);
    Lease lease = locks.slotSemaphore("s").acquire(LONG);
    shared.abort(0);
    lease.whenLost().toCompletableFuture().get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    await().untilAsserted(() -> assertThat(opened.ofOneLease()).isEmpty());
    locks.slotSemaphore("s").acquire(LONG).close();
  }

  /** Each of them has a session of its own, which ends with the shared one and says nothing. */
  @Test
  void theEndOfTheSessionIsOneLineOfTheLog() throws Exception {
    create("logged", 3);
    OpenedConnections opened = connections();
    AmqpLocks locks = fixture.open(fixture.seldomVerifying(opened));
    locks.connect();
    Connection shared = opened.all().get(0);
    List<Lease> leases = new ArrayList<>();
    leases.add(locks.mutex("logged-too").acquire(LONG));
    for (int i = 0; i < 3; i++) {
      leases.add(locks.slotSemaphore("logged").acquire(LONG));
    }
    try (LogWatch log = LogWatch.of("io.amqplocks.internal.session")) {
      shared.abort(0);
      await().until(() -> leases.stream().allMatch(each -> each.state() == LeaseState.LOST));
      await().untilAsserted(() -> assertThat(opened.ofOneLease()).isEmpty());
      // The line comes when all leases have been told.
      await()
          .untilAsserted(
              () ->
                  assertThat(log.warnings())
                      .filteredOn(line -> line.contains("slot semaphore 'logged'"))
                      .singleElement()
                      .asString()
                      .contains("slot 1 of slot semaphore 'logged'")
                      .contains("slot 2 of slot semaphore 'logged'")
                      .contains("slot 3 of slot semaphore 'logged'")
                      .contains("mutex 'logged-too'"));
    }
  }

  @Test
  void severalPermitsAreAllOrNone() throws Exception {
    SlotSemaphoreAdmin admin = create("s", 3);
    OpenedConnections opened = connections();
    AmqpLocks locks = fixture.open(fixture.seldomVerifying(opened));
    AmqpLock pair = locks.slotSemaphore("s").withPermits(2);
    Lease first = pair.acquire(LONG);
    assertThat(first.verify()).isEqualTo(LeaseState.HELD);
    assertThat(admin.holders()).hasSize(2);
    assertThat(pair.tryAcquire()).isEmpty();
    assertThat(admin.holders()).hasSize(2);
    Future<Lease> second = threads.submit(() -> pair.acquire(LONG));
    await().until(() -> locks.status().waiting() == 1);
    // Of the two that it has, whichever: the lease is lost, and the other slot goes back.
    opened.ofOneLease().get(0).abort(0);
    first.whenLost().toCompletableFuture().get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS);
    Lease next = second.get(1, TimeUnit.MINUTES);
    assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    await().untilAsserted(() -> assertThat(admin.holders()).hasSize(2));
    next.close();
    await().untilAsserted(() -> assertThat(admin.holders()).isEmpty());
    assertThat(opened.ofOneLease()).isEmpty();
  }

  @Test
  void slotsChangeWhileTheyAreHeld() throws Exception {
    SlotSemaphoreAdmin admin = create("s", 2);
    AmqpLocks locks = fixture.open();
    AmqpLock semaphore = locks.slotSemaphore("s");
    List<Lease> held = new ArrayList<>(List.of(semaphore.acquire(LONG), semaphore.acquire(LONG)));
    assertThat(admin.count()).isEqualTo(2);
    assertThat(admin.holders()).containsExactly(1, 2);
    assertThat(semaphore.tryAcquire()).isEmpty();
    AmqpLocks others = fixture.open();
    Future<Lease> waiter = threads.submit(() -> others.slotSemaphore("s").acquire(LONG));
    await().until(() -> others.status().waiting() == 1);
    assertThat(admin.resize(3, DeleteOrder.DESCENDING)).isEqualTo(new SlotChange(2, 3));
    held.add(waiter.get(1, TimeUnit.MINUTES));
    assertThat(admin.awaitTaken(3, LONG)).isTrue();
    assertThat(admin.resize(1, DeleteOrder.DESCENDING)).isEqualTo(new SlotChange(3, 1));
    assertThat(admin.count()).isEqualTo(1);
    for (Lease lease : held) {
      LeaseState state = lease.verify();
      assertThat(state).isEqualTo(lease.slot() == 1 ? LeaseState.HELD : LeaseState.LOST);
      assertThat(lease.lossReason().map(LossReason::cause))
          .isEqualTo(
              lease.slot() == 1 ? Optional.empty() : Optional.of(LossReason.Cause.SLOT_REMOVED));
    }
    assertThat(admin.awaitDrained(Set.of(2, 3), LONG)).isTrue();
    assertThat(semaphore.tryAcquire()).isEmpty();
    assertThat(admin.resize(0, DeleteOrder.DESCENDING)).isEqualTo(new SlotChange(1, 0));
    assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(LockException.NotFound.class);
    assertThat(admin.prune(5)).isZero();
    admin.create(2);
    assertThatThrownBy(() -> admin.create(3)).isInstanceOf(LockException.Conflict.class);
    assertThat(admin.createIfAbsent(3)).isEqualTo(2);
  }

  /** Qpid tells nobody of a deletion, so the periodic verification has to find it out. */
  @Test
  void aHolderFindsOutByItselfThatItsSlotWasRemoved() throws Exception {
    SlotSemaphoreAdmin admin = create("s", 1);
    AmqpLocks locks = fixture.open();
    Lease lease = locks.slotSemaphore("s").acquire(LONG);
    admin.resize(0, DeleteOrder.DESCENDING);
    LossReason reason = lease.whenLost().toCompletableFuture().get(1, TimeUnit.MINUTES);
    assertThat(reason.cause()).isEqualTo(LossReason.Cause.SLOT_REMOVED);
    assertThat(admin.awaitDrained(Set.of(1), LONG)).isTrue();
  }

  /** A slot that its holder remembers is not there any more: that is no lost connection. */
  @Test
  void aRememberedSlotThatWasRemovedIsNotFound() throws Exception {
    create("s", 1);
    AmqpLock semaphore = fixture.open(remembering(connections())).slotSemaphore("s");
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      semaphore.acquire(LONG).close();
      // An administrator would take longer than the slot is remembered.
      channel.queueDelete(fixture.names().slot(LockName.of("s"), 1));
      assertThatThrownBy(semaphore::tryAcquire).isInstanceOf(LockException.NotFound.class);
    }
  }

  @Test
  void aKilledProcessHoldsNothing() throws Exception {
    create("s", 2);
    AmqpLock semaphore = fixture.open().slotSemaphore("s");
    try (ChildJvm holder =
        ChildJvm.of(HolderMain.class)
            .args(fixture.broker().uri(), fixture.prefix(), "semaphore:s,semaphore:s", "10")
            .start()) {
      holder.awaitLine("HELD 2", Duration.ofSeconds(90));
      assertThat(semaphore.tryAcquire()).isEmpty();
      Future<Lease> waiter = threads.submit(() -> semaphore.acquire(LONG));
      holder.killNow();
      assertThat(waiter.get(1, TimeUnit.MINUTES).verify()).isEqualTo(LeaseState.HELD);
      // The broker may see the ends of the two connections one after the other.
      Fixture.first(semaphore).close();
    }
  }

  /** Not by luck: a waiter that is told nothing looks for itself after a second or so. */
  @Test
  void aReleaseIsAnnouncedToOtherProcesses() throws Exception {
    create("s", 1);
    String queue = fixture.names().wake(LockId.slotSemaphore("s"));
    AmqpLocks locks = fixture.open();
    Lease lease = fixture.open().slotSemaphore("s").acquire(LONG);
    Future<Lease> waiter = threads.submit(() -> locks.slotSemaphore("s").acquire(LONG));
    await().until(() -> locks.status().waiting() == 1);
    try (Connection stranger = fixture.stranger()) {
      // It is there once the waiter's first attempt has failed.
      await()
          .until(
              () -> {
                try {
                  return stranger.createChannel().consumerCount(queue) == 1;
                } catch (IOException none) {
                  return false;
                }
              });
      Channel channel = stranger.createChannel();
      AtomicInteger told = new AtomicInteger();
      String unused =
          channel.basicConsume(
              queue, true, (tag, message) -> told.incrementAndGet(), tag -> told.decrementAndGet());
      lease.close();
      for (int i = 0; i < 10; i++) {
        Lease next =
            i == 0 ? waiter.get(1, TimeUnit.MINUTES) : locks.slotSemaphore("s").acquire(LONG);
        next.close();
      }
      await().untilAsserted(() -> assertThat(told).hasPositiveValue());
    }
  }

  /** Two of the three ways would close the connection of the probes. */
  @ParameterizedTest
  @EnumSource
  void everyWayToProbeFindsTheSlots(ProbeKind kind) throws Exception {
    create("s", 2);
    AmqpLocks locks = fixture.open(fixture.builder().probing(kind));
    AmqpLock semaphore = locks.slotSemaphore("s");
    try (Lease one = semaphore.tryAcquire().orElseThrow();
        Lease two = semaphore.tryAcquire().orElseThrow()) {
      assertThat(locks.admin().slotSemaphore("s").holders()).containsExactly(1, 2);
      assertThat(Set.of(one.slot(), two.slot())).containsExactlyInAnyOrder(1, 2);
      assertThat(semaphore.tryAcquire()).isEmpty();
      assertThat(locks.status().held()).isEqualTo(2);
      assertThat(locks.leases()).hasSize(2);
    }
  }
}
