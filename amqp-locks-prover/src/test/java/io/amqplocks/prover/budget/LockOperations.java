package io.amqplocks.prover.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.prover.driver.CoreLocks;
import io.amqplocks.prover.driver.LockRef;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The operations of one lock, each measured in a state that the ones before it have left. The first
 * use of a kind of lock in a process opens connections and channels, the second one does not.
 */
final class LockOperations {

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final FrameMeter meter;
  private final AmqpLocks locks;
  private final AmqpLocks stranger;
  private final LockRef ref;
  private final boolean reads;
  private final Map<String, Figures> figures = new LinkedHashMap<>();

  /**
   * For a new lock.
   *
   * @param locks the process to measure, which was not used yet
   * @param stranger another process, which the meter does not see
   * @param reads whether to measure the read lock of a read-write lock, and not the write lock
   */
  LockOperations(
      FrameMeter meter, AmqpLocks locks, AmqpLocks stranger, LockRef ref, boolean reads) {
    this.meter = meter;
    this.locks = locks;
    this.stranger = stranger;
    this.ref = ref;
    this.reads = reads;
  }

  /** The figures of each operation, by its name. */
  Map<String, Figures> measure() throws Exception {
    measure("connect", locks::connect);
    create("create-first", ref.name());
    create("create", ref.name() + "-2");
    use("-first", ref.name());
    use("", ref.name());
    tryBusy();
    if (!reads) { // Readers do not hand over, and need not wait for each other.
      handOver();
    }
    acquireNew("acquire-new-name", ref.name() + "-3");
    acquireNew("acquire-new-key", ref.name() + ":key");
    return figures;
  }

  private void create(String operation, String name) throws Exception {
    if (ref.kind().isCreated()) {
      measure(operation, () -> CoreLocks.create(locks, named(name), 1));
    }
  }

  private void use(String suffix, String name) throws Exception {
    AtomicReference<Lease> held = new AtomicReference<>();
    measure("acquire" + suffix, () -> held.set(lock(locks, name).acquire(LONG)));
    measure("verify" + suffix, () -> assertThat(held.get().verify()).isEqualTo(LeaseState.HELD));
    measure("release" + suffix, () -> held.get().close());
  }

  /** Somebody else has it; of a read-write lock, the write lock. */
  private void tryBusy() throws Exception {
    try (Lease unused = stranger.lock(CoreLocks.id(ref)).acquire(LONG)) {
      AtomicLong asked = new AtomicLong();
      FrameMeter.Operation attempt =
          () -> {
            asked.set(System.nanoTime());
            assertThat(lock(locks, ref.name()).tryAcquire()).isEmpty();
          };
      measure("try-busy", attempt);
      tryBusyAgain();
      // What was found counts for a second. A try that a pause made later is one more first try.
      for (int i = 0; i < 5 && System.nanoTime() - asked.get() > SECOND.toNanos(); i++) {
        await().pollDelay(SECOND).until(() -> true);
        attempt.run();
        tryBusyAgain();
      }
    }
  }

  private void tryBusyAgain() throws Exception {
    measure("try-busy-again", () -> assertThat(lock(locks, ref.name()).tryAcquire()).isEmpty());
  }

  /** A thread of the same process waits. */
  private void handOver() throws Exception {
    AmqpLock lock = lock(locks, ref.name());
    Lease held = lock.acquire(LONG);
    CompletableFuture<Lease> next = lock.acquireAsync(LONG);
    await().until(() -> !locks.waiting().isEmpty());
    measure(
        "hand-over",
        () -> {
          held.close();
          assertThat(next.get(LONG.toSeconds(), TimeUnit.SECONDS)).isNotNull();
        });
    next.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
  }

  /** A name or a key that was never used; who creates it, if that is needed, is not measured. */
  private void acquireNew(String operation, String name) throws Exception {
    if (ref.kind().isCreated()) {
      CoreLocks.create(stranger, named(name), 1);
    }
    AtomicReference<Lease> held = new AtomicReference<>();
    measure(operation, () -> held.set(lock(locks, name).acquire(LONG)));
    held.get().close();
  }

  private void measure(String operation, FrameMeter.Operation work) throws Exception {
    figures.put(operation, meter.measure(work));
  }

  private LockRef named(String name) {
    return new LockRef(ref.kind(), name);
  }

  private AmqpLock lock(AmqpLocks process, String name) {
    return process.lock(CoreLocks.id(named(name), reads));
  }
}
