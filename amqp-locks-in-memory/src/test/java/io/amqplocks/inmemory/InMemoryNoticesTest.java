package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InMemoryNoticesTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String THREAD = "amqp-locks-in-memory-losses";
  private static final LossReason LOSS = new LossReason(LossReason.Cause.REVOKED, "test");

  /** Asks the locks, on another thread, from each of the methods that users write. */
  private static final class Asking implements LockObserver {

    final Set<String> called = new ConcurrentSkipListSet<>();
    final List<Exception> failures = new CopyOnWriteArrayList<>();
    volatile @Nullable InMemoryLocks locks;

    /** It would wait in vain if the thread that calls this method had the monitor. */
    private void ask(String method) {
      called.add(method);
      InMemoryLocks asked = locks;
      if (asked == null) {
        failures.add(new IllegalStateException("called too early"));
        return;
      }
      try {
        Object unused = CompletableFuture.supplyAsync(asked::leases).get(10, TimeUnit.SECONDS);
      } catch (Exception e) {
        failures.add(e);
      }
    }

    @Override
    public Attempt begin(LockId lock) {
      ask("begin");
      return new Attempt() {
        @Override
        public Hold acquired(Lease lease) {
          ask("acquired");
          return new Hold() {
            @Override
            public void released() {
              ask("released");
            }

            @Override
            public void lost(LossReason reason) {
              ask("lost");
            }
          };
        }

        @Override
        public void notAcquired(LockListener.Outcome outcome, @Nullable Throwable failure) {
          ask("notAcquired");
        }
      };
    }
  }

  @Test
  void theUsersCodeRunsOutsideTheMonitor() throws Exception {
    Asking observer = new Asking();
    InMemoryLocks locks = InMemoryLocks.builder().observer(observer).build();
    observer.locks = locks;
    AmqpLock mutex = locks.mutex("orders");
    Lease released = mutex.acquire(LONG);
    assertThat(mutex.tryAcquire()).isEmpty();
    CompletableFuture<Lease> next = mutex.acquireAsync(LONG);
    released.close();
    Lease lost = next.get(30, TimeUnit.SECONDS);
    CompletableFuture<String> thread = new CompletableFuture<>();
    var unused =
        lost.whenLost()
            .thenAccept(
                reason -> {
                  observer.ask("whenLost");
                  thread.complete(Thread.currentThread().getName());
                });
    locks.lose(lost, LOSS);
    assertThat(thread.get(30, TimeUnit.SECONDS)).startsWith(THREAD);
    await()
        .untilAsserted(
            () ->
                assertThat(observer.called)
                    .containsExactly(
                        "acquired", "begin", "lost", "notAcquired", "released", "whenLost"));
    locks.close();
    assertThat(observer.failures).isEmpty();
  }

  @Test
  void theSlotIsNotFreeWhileObserversHearOfTheRelease() throws Exception {
    CompletableFuture<Boolean> free = new CompletableFuture<>();
    AmqpLock[] mutex = new AmqpLock[1];
    LockObserver.Hold hold =
        new LockObserver.Hold() {
          @Override
          public void released() {
            boolean unused = free.complete(mutex[0].tryAcquire().isPresent());
          }
        };
    LockObserver.Attempt attempt =
        new LockObserver.Attempt() {
          @Override
          public LockObserver.Hold acquired(Lease lease) {
            return hold;
          }
        };
    try (InMemoryLocks locks = InMemoryLocks.builder().observer(lock -> attempt).build()) {
      mutex[0] = locks.mutex("orders");
      mutex[0].acquire(LONG).close();
      assertThat(free.get(30, TimeUnit.SECONDS)).isFalse();
      assertThat(mutex[0].tryAcquire()).isPresent();
    }
  }

  @Test
  void aReleaseIsHeardBeforeTheNextLease() throws Exception {
    AtomicInteger held = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    LockListener counting =
        new LockListener() {
          @Override
          public void acquired(Lease lease, Duration waited) {
            most.accumulateAndGet(held.incrementAndGet(), Math::max);
          }

          @Override
          public void released(Lease lease, Duration time) {
            held.decrementAndGet();
          }
        };
    InMemoryLocks locks = InMemoryLocks.builder().listener(counting).build();
    AmqpLock mutex = locks.mutex("orders");
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 20_000; i++) {
                    // Whoever waits is served in turn; these come in between.
                    mutex.tryAcquire().ifPresent(Lease::close);
                  }
                  return null;
                }));
      }
      for (Future<?> each : all) {
        Object unused = each.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    await().until(() -> held.get() == 0);
    locks.close();
    assertThat(most).hasValue(1);
  }

  @Test
  void oneResultThatFailsDoesNotLoseTheOthers() {
    Effects effects = new Effects();
    CompletableFuture<String> other = new CompletableFuture<>();
    effects.add(
        () -> {
          throw new AssertionError("a failure for this test");
        });
    effects.add(() -> other.complete("delivered"));
    effects.run();
    assertThat(other).isCompletedWithValue("delivered");
  }

  /** The closing may come while the event is still being posted, so it is tried many times. */
  @Test
  void aListenerThatClosesIsNotInterruptedAndTheOthersAreTold() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      assertThat(heardByBothWhenTheFirstCloses())
          .as("try %d", i)
          .containsExactly("interrupted: false", "opened");
    }
  }

  private static List<String> heardByBothWhenTheFirstCloses() throws Exception {
    AtomicReference<Notices> notices = new AtomicReference<>();
    List<String> heard = new CopyOnWriteArrayList<>();
    LockListener closing =
        new LockListener() {
          @Override
          public void sessionOpened() {
            notices.get().close();
            heard.add("interrupted: " + Thread.currentThread().isInterrupted());
          }
        };
    LockListener other =
        new LockListener() {
          @Override
          public void sessionOpened() {
            heard.add("opened");
          }
        };
    notices.set(new Notices(List.of(closing, other), List.of()));
    // Its thread is awake when the event comes, and so is as fast as the one that posts it.
    CompletableFuture<Thread> awake = new CompletableFuture<>();
    AtomicBoolean posting = new AtomicBoolean();
    notices
        .get()
        .run(
            () -> {
              awake.complete(Thread.currentThread());
              while (!posting.get()) {
                Thread.onSpinWait();
              }
            });
    Thread listening = awake.get(30, TimeUnit.SECONDS);
    posting.set(true);
    notices.get().post(LockListener::sessionOpened);
    listening.join(30_000);
    return heard;
  }

  /** Each of the two would be the one that blocks to the other. */
  @Test
  void aListenerAndWhatDependsOnALossMayCloseAtOnce() throws Exception {
    List<String> wanted = List.of("interrupted: false", "interrupted: false", "told", "told");
    List<String> heard = heardWhenBothClose();
    // Each waits a second for the other, which on a busy machine may not run for as long.
    for (int again = 0; again < 2 && !heard.equals(wanted); again++) {
      heard = heardWhenBothClose();
    }
    assertThat(heard).isEqualTo(wanted);
  }

  private static List<String> heardWhenBothClose() throws InterruptedException {
    Notices notices = new Notices(List.of(), List.of());
    CountDownLatch all = new CountDownLatch(3);
    List<Thread> threads = new CopyOnWriteArrayList<>();
    List<String> heard = new CopyOnWriteArrayList<>();
    Runnable closing =
        () -> {
          threads.add(Thread.currentThread());
          all.countDown();
          await().until(() -> all.getCount() == 0);
          notices.close();
          heard.add("interrupted: " + Thread.currentThread().isInterrupted());
        };
    notices.run(closing);
    notices.run(() -> heard.add("told"));
    notices.runDependent(closing);
    notices.runDependent(() -> heard.add("told"));
    all.countDown(); // What comes after a close is not told.
    await().until(() -> all.getCount() == 0);
    for (Thread thread : threads) {
      thread.join(30_000);
    }
    return heard.stream().sorted().toList();
  }

  @Test
  void aListenerThatThrowsDisturbsNobody() throws Exception {
    List<String> heard = new CopyOnWriteArrayList<>();
    LockListener failing =
        new LockListener() {
          @Override
          public void acquired(Lease lease, Duration waited) {
            throw new IllegalStateException("a failure for this test");
          }
        };
    LockListener other =
        new LockListener() {
          @Override
          public void acquired(Lease lease, Duration waited) {
            heard.add("acquired");
          }
        };
    try (InMemoryLocks locks = InMemoryLocks.builder().listener(failing).listener(other).build()) {
      locks.mutex("orders").acquire(LONG).close();
      locks.mutex("orders").acquire(LONG).close();
      await().untilAsserted(() -> assertThat(heard).containsExactly("acquired", "acquired"));
    }
  }
}
