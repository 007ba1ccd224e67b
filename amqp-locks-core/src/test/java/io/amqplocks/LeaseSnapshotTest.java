package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.LockAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an operator sees of the locks of one process, and can do about them there. */
@BrokerTest(everyLine = true, ownBroker = true)
class LeaseSnapshotTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks locks;

  @BeforeEach
  void open() {
    locks = fixture.open();
  }

  @Test
  void leasesHeldHere() throws Exception {
    fixture.create(locks, "s", 2);
    assertThat(locks.leases()).isEmpty();
    Lease plain = locks.mutex("m").acquire(LONG);
    Lease slot = locks.slotSemaphore("s").acquire(LONG);
    assertThat(locks.leases())
        .extracting(LeaseSnapshot::lock)
        .containsExactlyInAnyOrder(plain.lock(), slot.lock());
    assertThat(locks.leases())
        .allSatisfy(
            view -> {
              assertThat(view.state()).isEqualTo(LeaseState.HELD);
              assertThat(view.token()).isEmpty();
              assertThat(view.age()).isBetween(Duration.ZERO, plain.age());
              assertThat(view.unconfirmed()).isGreaterThanOrEqualTo(Duration.ZERO);
            });
    plain.close();
    assertThat(locks.leases())
        .singleElement()
        .satisfies(
            view -> {
              assertThat(view.slot()).isEqualTo(slot.slot());
              assertThat(locks.admin().holderQueue(slot.lock(), slot.slot()))
                  .hasValue(view.queue());
            });
  }

  @Test
  void aLeaseOfSeveralPermitsShowsEachOfItsSlots() throws Exception {
    fixture.create(locks, "s", 3);
    Lease one = locks.slotSemaphore("s").acquire(LONG);
    Lease two = locks.slotSemaphore("s").withPermits(2).acquire(LONG);
    List<Integer> ofOne = view(one).slots();
    List<Integer> ofTwo = view(two).slots();
    assertThat(ofOne).containsExactly(one.slot());
    assertThat(ofTwo).hasSize(2).startsWith(two.slot()).doesNotContainAnyElementsOf(ofOne);
    assertThat(locks.admin().slotSemaphore("s").holders()).containsExactlyInAnyOrder(1, 2, 3);
    assertThat(view(two).permits()).isEqualTo(2);
  }

  private LeaseSnapshot view(Lease lease) {
    return locks.leases().stream()
        .filter(view -> view.permits() == lease.permits())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theVirtualHostOfTheLocks() {
    assertThat(locks.admin().virtualHost())
        .isEqualTo(fixture.broker().connectionFactory().getVirtualHost());
  }

  @Test
  void aFencedLeaseShowsItsToken() throws Exception {
    try (Lease lease = locks.fencedMutex("f").acquire(LONG)) {
      assertThat(locks.leases())
          .singleElement()
          .satisfies(view -> assertThat(view.token()).hasValue(lease.fencingToken()));
    }
    locks.admin().fencedMutex("f").destroy();
  }

  @Test
  void whoWaitsForWhat() throws Exception {
    Lease lease = locks.mutex("m").acquire(LONG);
    assertThat(locks.waiting()).isEmpty();
    CompletableFuture<Lease> first = locks.mutex("m").acquireAsync(LONG);
    CompletableFuture<Lease> second = locks.mutex("m").acquireAsync(LONG);
    await()
        .untilAsserted(() -> assertThat(locks.waiting()).isEqualTo(Map.of(LockId.mutex("m"), 2)));
    lease.close();
    first.get(30, TimeUnit.SECONDS).close();
    second.get(30, TimeUnit.SECONDS).close();
    await().atMost(LONG).until(() -> locks.waiting().isEmpty());
  }

  @Test
  void anOperatorTakesLeasesBackFromThisProcess() throws Exception {
    Lease lease = locks.mutex("m").acquire(LONG);
    Lease other = locks.mutex("other").acquire(LONG);
    CompletableFuture<LossReason> told = lease.whenLost().toCompletableFuture();
    assertThat(locks.revoke(LockId.mutex("m"), "an operator wants it")).isEqualTo(1);
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(told.get(30, TimeUnit.SECONDS))
        .isEqualTo(new LossReason(LossReason.Cause.REVOKED, "an operator wants it"));
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    // It is free at the broker too.
    fixture.open().mutex("m").acquire(LONG).close();
    assertThat(locks.revoke(LockId.mutex("m"), "again")).isZero();
  }

  @Test
  void whetherAMutexIsHeldByAnybody() throws Exception {
    LockAdmin stranger = fixture.open().admin();
    assertThat(stranger.mutex("m").isHeld()).isFalse();
    Lease lease = locks.mutex("m").acquire(LONG);
    assertThat(stranger.mutex("m").isHeld()).isTrue();
    assertThat(locks.admin().mutex("m").isHeld()).isTrue();
    lease.close();
    // A release is not confirmed.
    await().until(() -> !stranger.mutex("m").isHeld());
  }

  @Test
  void leasesThatABrokerDoesNotConfirmAreUncertain(Broker broker) throws Exception {
    AmqpLocks patient = fixture.open(fixture.builder().heartbeat(Duration.ofSeconds(10)));
    Lease lease = patient.mutex("m").acquire(LONG);
    broker.faults().freeze();
    try {
      // For ten seconds and more, which nobody is so slow to miss, before it is lost.
      await()
          .pollInterval(Duration.ofMillis(100))
          .atMost(LONG)
          .until(() -> patient.status().uncertain() == 1);
      assertThat(patient.status().held()).isEqualTo(1);
      assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    } finally {
      broker.faults().thaw();
    }
  }
}
