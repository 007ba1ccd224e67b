package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@BrokerTest(everyLine = true)
class SlotSemaphoreAdminTest {

  private static final LockName NAME = LockName.of("s");

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private AmqpLocks locks;
  private SlotSemaphoreAdmin admin;

  @BeforeEach
  void fixture(Broker given) {
    broker = given;
    locks = fixture.open(fixture.builder().verifyEvery(Duration.ofMillis(500)));
    admin = fixture.open().admin().slotSemaphore("s");
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  @ParameterizedTest
  @EnumSource
  void growsAndShrinks(DeleteOrder order) throws Exception {
    assertThat(admin.resize(4)).isEqualTo(new SlotChange(0, 4));
    assertThat(admin.resize(7)).isEqualTo(new SlotChange(4, 7));
    assertThat(admin.add(2)).isEqualTo(new SlotChange(7, 9));
    assertThat(admin.count()).isEqualTo(9);
    SlotChange fewer = admin.resize(3, order);
    assertThat(fewer).isEqualTo(new SlotChange(9, 3));
    assertThat(fewer.removed()).containsExactly(4, 5, 6, 7, 8, 9);
    assertThat(fewer.added()).isEmpty();
    assertThat(admin.remove(1)).isEqualTo(new SlotChange(3, 2));
    assertThat(admin.remove(99)).isEqualTo(new SlotChange(2, 0));
    assertThat(admin.count()).isZero();
    admin.create(1);
    assertThat(admin.resize(0)).isEqualTo(new SlotChange(1, 0));
    assertThat(admin.resize(0)).isEqualTo(new SlotChange(0, 0));
    for (int slot = 1; slot <= 9; slot++) {
      assertThat(fixture.exists(fixture.names().slot(NAME, slot))).isFalse();
    }
  }

  @Test
  void shrinkingWaitsForNobodyAndTheHolderLetsGo() throws Exception {
    admin.create(3);
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      leases.add(locks.slotSemaphore("s").tryAcquire().orElseThrow());
    }
    assertThat(admin.holders()).containsExactly(1, 2, 3);
    SlotChange change = admin.resize(1);
    assertThat(admin.count()).isEqualTo(1);
    assertThat(admin.awaitDrained(change.removed(), Duration.ofSeconds(30))).isTrue();
    assertThat(admin.holders()).containsExactly(1);
    assertThat(leases)
        .allSatisfy(
            lease ->
                assertThat(lease.state())
                    .isEqualTo(lease.slot() == 1 ? LeaseState.HELD : LeaseState.LOST));
    assertThat(leases)
        .filteredOn(lease -> lease.slot() > 1)
        .allSatisfy(
            lease ->
                assertThat(lease.lossReason().orElseThrow().cause())
                    .isEqualTo(LossReason.Cause.SLOT_REMOVED));
  }

  /** The guidelines' overview: "a new client can falsely hold it" must not come about. */
  @Test
  void aSlotRemovedAndAddedAgainStillHasItsOldHolder() throws Exception {
    AmqpLocks slow = fixture.open(fixture.seldomVerifying());
    admin.create(1);
    Lease old = slow.slotSemaphore("s").tryAcquire().orElseThrow();
    admin.remove(1);
    assertThat(admin.awaitDrained(Set.of(1), Duration.ofMillis(50))).isFalse();
    admin.add(1);
    assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
    assertThat(old.verify())
        .as("it verifies by itself after half a minute")
        .isEqualTo(LeaseState.HELD);
    old.close();
    try (Lease next = locks.slotSemaphore("s").tryAcquire().orElseThrow()) {
      assertThat(next.slot()).isEqualTo(1);
    }
  }

  @Test
  void awaitsThatAnAddedSlotIsTaken() throws Exception {
    admin.create(1);
    Lease first = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    SlotChange change = admin.add(1);
    assertThat(change.added()).containsExactly(2);
    assertThat(admin.awaitTaken(2, Duration.ofMillis(50))).isFalse();
    Future<Boolean> taken =
        threads.submit(() -> admin.awaitTaken(2, Duration.ofSeconds(Long.MAX_VALUE)));
    Lease second = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    assertThat(taken.get(60, TimeUnit.SECONDS)).isTrue();
    first.close();
    second.close();
  }

  @Test
  void growingServesThoseWhoWait() throws Exception {
    admin.create(1);
    Lease first = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    Future<Lease> waiting =
        threads.submit(() -> locks.slotSemaphore("s").acquire(Duration.ofSeconds(20)));
    await().until(() -> locks.status().waiting() == 1);
    admin.add(1);
    assertThat(waiting.get(30, TimeUnit.SECONDS).slot()).isEqualTo(2);
    first.close();
  }

  @Test
  void prunesWhatLiesAboveTheHighestSlot() throws Exception {
    admin.create(8);
    fixture.delete(fixture.names().slot(NAME, 3));
    fixture.delete(fixture.names().slot(NAME, 6));
    assertThat(admin.count()).isEqualTo(2);
    assertThat(admin.prune(3)).isEqualTo(2);
    assertThat(admin.prune(20)).isEqualTo(2);
    assertThat(admin.prune(20)).isZero();
    assertThat(admin.resize(7)).isEqualTo(new SlotChange(2, 7));
    assertThat(admin.count()).isEqualTo(7);
  }

  /** What a shrink by {@code ASCENDING} leaves if it dies after its first step. */
  private Lease heldAboveAHole() {
    admin.create(5);
    Lease highest = null;
    for (int i = 0; i < 5; i++) {
      Lease lease = locks.slotSemaphore("s").tryAcquire().orElseThrow();
      highest = lease.slot() == 5 ? lease : highest;
    }
    broker.faults().deleteQueue(fixture.names().slot(NAME, 3));
    assertThat(admin.count()).isEqualTo(2);
    return Objects.requireNonNull(highest);
  }

  private static Stream<Arguments> nextChanges() {
    return Stream.of(
        change("the same again", 2, admin -> admin.resize(2, DeleteOrder.ASCENDING)),
        change("the same number", 2, admin -> admin.resize(2)),
        change("fewer", 1, admin -> admin.resize(1, DeleteOrder.ASCENDING)),
        change("one less", 1, admin -> admin.remove(1)),
        change("one more, up to the hole", 3, admin -> admin.add(1)),
        change("the end of it", 0, SlotSemaphoreAdmin::destroy));
  }

  private static Arguments change(String what, int after, Consumer<SlotSemaphoreAdmin> change) {
    return Arguments.of(Named.of(what, change), after);
  }

  @ParameterizedTest
  @MethodSource("nextChanges")
  void theNextChangeRemovesWhatAnInterruptedOneLeftAboveTheHole(
      Consumer<SlotSemaphoreAdmin> change, int after) throws Exception {
    Lease highest = heldAboveAHole();
    change.accept(admin);
    for (int slot = 1; slot <= 5; slot++) {
      assertThat(fixture.exists(fixture.names().slot(NAME, slot)))
          .as("slot %d", slot)
          .isEqualTo(slot <= after);
    }
    assertThat(highest.verify()).isEqualTo(LeaseState.LOST);
    assertThat(highest.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.SLOT_REMOVED);
  }

  @Test
  void growingLeavesNothingAboveAHoleEither() throws Exception {
    admin.create(7);
    fixture.delete(fixture.names().slot(NAME, 2));
    fixture.delete(fixture.names().slot(NAME, 4));
    assertThat(admin.resize(3)).isEqualTo(new SlotChange(1, 3));
    for (int slot = 1; slot <= 7; slot++) {
      assertThat(fixture.exists(fixture.names().slot(NAME, slot)))
          .as("slot %d", slot)
          .isEqualTo(slot <= 3);
    }
  }

  @Test
  void oneAdministratorAtATime() throws Exception {
    List<Future<SlotChange>> changes = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      SlotSemaphoreAdmin another = fixture.open().admin().slotSemaphore("s");
      changes.add(threads.submit(() -> another.add(3)));
    }
    Set<Integer> added = new TreeSet<>();
    for (Future<SlotChange> each : changes) {
      each.get(60, TimeUnit.SECONDS).added().forEach(slot -> assertThat(added.add(slot)).isTrue());
    }
    assertThat(admin.count()).isEqualTo(18);
  }

  @Test
  void numbersOutOfRange() {
    admin.create(2);
    for (int wrong : new int[] {-1, 10_001}) {
      assertThatThrownBy(() -> admin.resize(wrong)).isInstanceOf(LockException.Invalid.class);
      assertThatThrownBy(() -> admin.add(wrong)).isInstanceOf(LockException.Invalid.class);
      assertThatThrownBy(() -> admin.remove(wrong)).isInstanceOf(LockException.Invalid.class);
      assertThatThrownBy(() -> admin.prune(wrong)).isInstanceOf(LockException.Invalid.class);
    }
    assertThatThrownBy(() -> admin.add(9_999))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("10001")
        .hasMessageContaining("semaphore 's'");
    assertThat(admin.count()).isEqualTo(2);
  }

  @Tag("trap-15")
  @Test
  void aThousandSlotsAreCountedAtOnce() {
    admin.create(1000);
    assertThat(fixture.open().admin().slotSemaphore("s").count()).isEqualTo(1000);
    assertThat(fixture.open().admin().slotSemaphore("s").holders()).isEmpty();
    admin.destroy();
  }
}
