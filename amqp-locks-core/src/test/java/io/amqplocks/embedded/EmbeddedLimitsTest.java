package io.amqplocks.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

/** What works on the broker in the JVM, and what is refused there. */
@BrokerTest(embedded = true)
class EmbeddedLimitsTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  private void make(LockId id, int slots) {
    String name = id.name().value();
    switch (id.kind()) {
      case SLOT_SEMAPHORE -> fixture.open().admin().slotSemaphore(name).create(slots);
      case TOKEN_SEMAPHORE ->
          fixture.open().admin().tokenSemaphore(name).create(slots, TokenQueueType.CLASSIC);
      default -> assertThat(slots).isEqualTo(1);
    }
  }

  /** Tries and waits of several clients at once. */
  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "TOKEN_SEMAPHORE", "SLOT_SEMAPHORE"})
  void neverMoreHoldersThanSlots(LockKind kind) throws Exception {
    int slots = kind == LockKind.MUTEX ? 1 : 3;
    // Each of its attempts opens a connection.
    int times = kind == LockKind.SLOT_SEMAPHORE ? 25 : 100;
    LockId id = new LockId(kind, LockId.mutex("m").name());
    make(id, slots);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger waited = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int client = 0; client < 8; client++) {
      AmqpLock lock = fixture.open().lock(id);
      boolean waits = client % 2 == 0;
      all.add(
          threads.submit(
              () -> {
                for (int n = 0; n < times; n++) {
                  Lease lease =
                      waits
                          ? lock.acquire(Fixture.AT_ONCE.multipliedBy(12))
                          : lock.tryAcquire().orElse(null);
                  if (lease != null) {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    assertThat(lease.verify())
                        .as(() -> lease.lossReason().toString())
                        .isEqualTo(LeaseState.HELD);
                    inside.decrementAndGet();
                    lease.close();
                    waited.addAndGet(waits ? 1 : 0);
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(2, TimeUnit.MINUTES);
    }
    assertThat(most).hasValueLessThanOrEqualTo(slots);
    assertThat(waited).hasValue(4 * times);
    List<Lease> again = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      again.add(fixture.open().lock(id).acquire(Fixture.AT_ONCE));
    }
    assertThat(fixture.open().lock(id).tryAcquire()).isEmpty();
    again.forEach(Lease::close);
  }

  /** A holder whose connection ends is none any more, and its slot is another one's at once. */
  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "TOKEN_SEMAPHORE", "SLOT_SEMAPHORE"})
  void aSlotComesBackWhenItsHolderDies(LockKind kind) throws Exception {
    LockId id = new LockId(kind, LockId.mutex("m").name());
    make(id, 1);
    OpenedConnections opened = new OpenedConnections(fixture.broker());
    Lease lost = fixture.open(fixture.builder(opened)).lock(id).tryAcquire().orElseThrow();
    AmqpLock other = fixture.open().lock(id);
    assertThat(other.tryAcquire()).isEmpty();
    opened.all().forEach(connection -> connection.abort(0));
    await().until(() -> lost.state() == LeaseState.LOST);
    other.acquire(Fixture.AT_ONCE).close();
  }

  @Test
  void slotsChangeWhileTheyAreHeld() throws Exception {
    AmqpLocks locks = fixture.open();
    var admin = locks.admin().tokenSemaphore("images");
    admin.create(2, TokenQueueType.CLASSIC);
    AmqpLock lock = locks.tokenSemaphore("images");
    List<Lease> held =
        new ArrayList<>(List.of(lock.acquire(Fixture.AT_ONCE), lock.acquire(Fixture.AT_ONCE)));
    assertThat(lock.tryAcquire()).isEmpty();
    assertThat(admin.status().inUse()).isEqualTo(2);
    assertThat(admin.status().idle()).isZero();
    assertThat(admin.resize(3)).isEqualTo(new SlotChange(2, 3));
    held.add(lock.acquire(Fixture.AT_ONCE));
    assertThat(admin.resize(1)).isEqualTo(new SlotChange(3, 1));
    held.forEach(Lease::close);
    assertThat(admin.awaitWithdrawn(Fixture.AT_ONCE)).isTrue();
    try (Lease one = lock.acquire(Fixture.AT_ONCE)) {
      assertThat(one.state()).isEqualTo(LeaseState.HELD);
      assertThat(lock.tryAcquire()).isEmpty();
    }
  }

  @Test
  void aDestroyedSemaphoreIsLostToItsHolders() throws Exception {
    AmqpLocks locks = fixture.open();
    locks.admin().tokenSemaphore("images").create(1, TokenQueueType.CLASSIC);
    Lease lease = locks.tokenSemaphore("images").acquire(Fixture.AT_ONCE);
    Lease other = locks.mutex("other").acquire(Fixture.AT_ONCE);
    locks.admin().tokenSemaphore("images").destroy();
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    assertThatThrownBy(() -> locks.tokenSemaphore("images").tryAcquire())
        .isInstanceOf(LockException.NotFound.class);
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
  }

  /** Qpid does not tell a waiter that its queue was deleted, however much they talk. */
  @Test
  void aWaiterFollowsASemaphoreThatIsCreatedAnew() throws Exception {
    AmqpLocks locks = fixture.open();
    var admin = fixture.open().admin().tokenSemaphore("images");
    admin.create(1, TokenQueueType.CLASSIC);
    Lease old = fixture.open().tokenSemaphore("images").acquire(Fixture.AT_ONCE);
    Future<Lease> waiter =
        threads.submit(() -> locks.tokenSemaphore("images").acquire(Duration.ofMinutes(1)));
    await().until(() -> locks.status().waiting() == 1);
    admin.destroy();
    admin.create(1, TokenQueueType.CLASSIC);
    AmqpLock other = locks.mutex("other");
    await()
        .until(
            () -> {
              other.acquire(Fixture.AT_ONCE).close();
              return waiter.isDone();
            });
    assertThat(old.verify()).isEqualTo(LeaseState.LOST);
    assertThat(waiter.get().verify()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void thePlainProtocolIsRefused() {
    AmqpLocks locks = fixture.open(fixture.builder().tokenNaming(name -> fixture.prefix() + name));
    assertThatThrownBy(
            () -> locks.admin().tokenSemaphore("images").create(1, TokenQueueType.CLASSIC))
        .isInstanceOf(LockException.Unsupported.class)
        .hasMessageContaining("token semaphore 'images'");
    assertThatThrownBy(() -> locks.tokenSemaphore("images").tryAcquire())
        .isInstanceOf(LockException.Unsupported.class);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"MUTEX", "TOKEN_SEMAPHORE", "SLOT_SEMAPHORE"})
  void otherKindsAreRefused(LockKind kind) throws Exception {
    AmqpLocks locks = fixture.open();
    Lease lease = locks.mutex("held").acquire(Fixture.AT_ONCE);
    AmqpLock lock = locks.lock(new LockId(kind, LockId.mutex("m").name()));
    for (AmqpLock each :
        List.of(lock, lock.id().kind() == LockKind.READ_LOCK ? lock : lock.fenced())) {
      assertThatThrownBy(each::tryAcquire)
          .isInstanceOf(LockException.Unsupported.class)
          .hasMessageContaining(lock.id().toString())
          .hasMessageContaining("Qpid")
          .hasMessageContaining("RabbitMQ");
      assertThatThrownBy(() -> each.acquire(Fixture.AT_ONCE))
          .isInstanceOf(LockException.Unsupported.class);
    }
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void quorumQueuesAreRefused() {
    AmqpLocks locks = fixture.open();
    var admin = locks.admin().tokenSemaphore("images");
    assertThatThrownBy(() -> admin.create(2, TokenQueueType.QUORUM))
        .isInstanceOf(LockException.Unsupported.class)
        .hasMessageContaining("token semaphore 'images'")
        .hasMessageContaining("use CLASSIC");
    assertThat(admin.status().slots()).isZero();
    assertThatThrownBy(() -> locks.admin().persistentMutex("m").enable())
        .isInstanceOf(LockException.Unsupported.class);
  }
}
