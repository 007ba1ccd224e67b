package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.lease.Hold;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener.Outcome;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Unspeakable;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@BrokerTest
class LockObserverTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final List<String> seen = new CopyOnWriteArrayList<>();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks locks;
  private AmqpLock mutex;

  /** Writes down what it sees, and in which thread; fails when told to. */
  private final class Writer implements LockObserver {
    @Override
    public Attempt begin(LockId lock) {
      write("begin " + lock);
      return new Attempt() {
        @Override
        public Hold acquired(Lease lease) {
          write("acquired " + lease.lock());
          return hold();
        }

        @Override
        public void notAcquired(Outcome outcome, @Nullable Throwable failure) {
          write(outcome + (failure == null ? "" : " " + failure.getClass().getSimpleName()));
        }
      };
    }

    private Hold hold() {
      return new Hold() {
        @Override
        public void released() {
          write("released");
        }

        @Override
        public void lost(LossReason reason) {
          seen.add("lost " + reason.cause());
        }
      };
    }

    private void write(String what) {
      seen.add(what + " in " + Thread.currentThread().getName());
    }
  }

  @BeforeEach
  void open() {
    locks = fixture.open(fixture.builder().observer(new Writer()));
    mutex = locks.mutex("m");
  }

  private static String here(String what) {
    return what + " in " + Thread.currentThread().getName();
  }

  @Test
  void aCallAndItsLeaseAreFollowedOnTheirThread() throws Exception {
    mutex.acquire(LONG).close();
    mutex.tryAcquire().orElseThrow().close();
    assertThat(seen)
        .containsExactly(
            here("begin mutex 'm'"),
            here("acquired mutex 'm'"),
            here("released"),
            here("begin mutex 'm'"),
            here("acquired mutex 'm'"),
            here("released"));
  }

  @Test
  void howACallEndsThatBringsNoLease() throws Exception {
    Lease lease = mutex.tryAcquire().orElseThrow();
    seen.clear();
    assertThat(mutex.tryAcquire()).isEmpty();
    assertThatThrownBy(() -> mutex.acquire(Duration.ZERO))
        .isInstanceOf(LockException.AcquireTimeout.class)
        .satisfies(busy -> assertThat(((LockException) busy).lock()).contains(mutex.id()));
    assertThatThrownBy(() -> mutex.acquire(Duration.ofMillis(20)))
        .isInstanceOf(LockException.AcquireTimeout.class);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> mutex.acquire(LONG)).isInstanceOf(InterruptedException.class);
    assertThatThrownBy(() -> locks.persistentMutex("none").acquire(LONG))
        .isInstanceOf(LockException.NotFound.class);
    assertThat(seen)
        .containsExactly(
            here("begin mutex 'm'"),
            here("BUSY"),
            here("begin mutex 'm'"),
            here("BUSY"),
            here("begin mutex 'm'"),
            here("TIMEOUT AcquireTimeout"),
            here("begin mutex 'm'"),
            here("INTERRUPTED InterruptedException"),
            here("begin persistent mutex 'none'"),
            here("ERROR NotFound"));
    lease.close();
  }

  @Test
  void aLossIsSeenAndNoReleaseAfterIt(Broker broker) {
    Lease lease = mutex.tryAcquire().orElseThrow();
    broker.faults().deleteQueue(fixture.names().mutex(LockId.mutex("m").name()));
    await().atMost(LONG).until(() -> seen.contains("lost REVOKED"));
    lease.close();
    assertThat(seen).hasSize(3).doesNotContain(here("released"));
  }

  @Test
  void anAsynchronousCallIsFollowed() throws Exception {
    Lease lease = mutex.tryAcquire().orElseThrow();
    seen.clear();
    CompletableFuture<Lease> next = mutex.acquireAsync(LONG);
    CompletableFuture<Lease> cancelled = mutex.acquireAsync(LONG);
    assertThat(seen).containsExactly(here("begin mutex 'm'"), here("begin mutex 'm'"));
    cancelled.cancel(false);
    await().atMost(LONG).until(() -> seen.stream().anyMatch(it -> it.startsWith("INTERRUPTED in")));
    lease.close();
    next.get(30, TimeUnit.SECONDS).close();
    assertThat(seen).anyMatch(it -> it.startsWith("acquired mutex 'm'")).endsWith(here("released"));
  }

  @Test
  void whatIsStillHeldAtTheEndIsReleased() {
    assertThat(mutex.tryAcquire()).isPresent();
    locks.close();
    assertThat(seen).endsWith(here("released"));
  }

  static List<Throwable> failures() {
    return List.of(
        new IllegalStateException("as the test wants"),
        new AssertionError("so, too"),
        new Unspeakable());
  }

  @ParameterizedTest
  @MethodSource("failures")
  void anObserverThatFailsHurtsNoLockAndNoOtherObserver(Throwable failure) throws Exception {
    LockObserver failing =
        lock ->
            new LockObserver.Attempt() {
              @Override
              public LockObserver.Hold acquired(Lease lease) {
                return fail(failure);
              }

              @Override
              public void notAcquired(Outcome outcome, @Nullable Throwable cause) {
                fail(failure);
              }
            };
    seen.clear();
    AmqpLocks both = fixture.open(fixture.builder().observer(failing).observer(new Writer()));
    AmqpLock other = both.mutex("m");
    try (Lease lease = other.acquire(LONG)) {
      assertThat(lease.slot()).isEqualTo(1);
      assertThat(other.tryAcquire()).isEmpty();
    }
    try (Lease lease = other.acquireAsync(LONG).get(60, TimeUnit.SECONDS)) {
      assertThat(lease.slot()).isEqualTo(1);
    }
    assertThat(both.status().waiting()).isZero();
    // The broker has the release a moment later.
    assertThat(Fixture.first(mutex).state()).isEqualTo(LeaseState.HELD);
    assertThat(seen).filteredOn(each -> each.contains("released")).hasSize(2);
  }

  /** Whatever it is, unchecked. */
  private static LockObserver.Hold fail(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) failure;
  }
}
