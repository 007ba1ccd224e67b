package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@BrokerTest(everyLine = true)
class AsyncAcquireTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks locks;
  private AmqpLock mutex;

  @BeforeEach
  void open() {
    locks = fixture.open();
    mutex = locks.mutex("m");
  }

  /** In a group of threads of its own: those of other tests do not count. */
  @Test
  void manyWaitWithoutAThreadAndAreServedInOrder() throws Exception {
    ThreadGroup group = new ThreadGroup("many waiters");
    FutureTask<Integer> waiting = new FutureTask<>(() -> manyWait(group));
    new Thread(group, waiting, "many waiters").start();
    assertThat(waiting.get(3, TimeUnit.MINUTES)).as("more threads").isLessThan(30);
  }

  private int manyWait(ThreadGroup group) throws Exception {
    Lease first = mutex.acquireAsync(LONG).get(60, TimeUnit.SECONDS);
    assertThat(first.verify()).isEqualTo(LeaseState.HELD);
    int threads = group.activeCount();
    List<Integer> order = new ArrayList<>();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      int number = i;
      all.add(
          mutex
              .acquireAsync(LONG)
              .thenAccept(
                  lease -> {
                    order.add(number);
                    lease.close();
                  }));
    }
    assertThat(locks.status().waiting()).isEqualTo(500);
    int more = group.activeCount() - threads;
    first.close();
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
    assertThat(order).hasSize(500).isSorted();
    await().until(() -> locks.status().waiting() == 0);
    return more;
  }

  @Test
  void oneThatIsCancelledLeavesTheLine() throws Exception {
    Lease lease = mutex.tryAcquire().orElseThrow();
    CompletableFuture<Lease> cancelled = mutex.acquireAsync(LONG);
    CompletableFuture<Lease> next = mutex.acquireAsync(LONG);
    cancelled.cancel(false);
    await().until(() -> locks.status().waiting() == 1);
    lease.close();
    next.get(60, TimeUnit.SECONDS).close();
    mutex.acquire(LONG).close();
  }

  /** However the cancel meets the lease, the mutex is free afterwards. */
  @Test
  void aCancelThatMeetsTheLeaseGivesItBack() throws Exception {
    for (int i = 0; i < 100; i++) {
      Lease lease = mutex.acquire(LONG);
      CompletableFuture<Lease> next = mutex.acquireAsync(LONG);
      CompletableFuture<Void> closing = CompletableFuture.runAsync(lease::close);
      if (!next.cancel(false)) {
        next.get().close();
      }
      closing.get(60, TimeUnit.SECONDS);
    }
    try (Lease last = mutex.acquire(LONG)) {
      assertThat(last.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  @Test
  void timeAndCloseEndIt() throws Exception {
    Lease lease = mutex.tryAcquire().orElseThrow();
    assertThatThrownBy(() -> mutex.acquireAsync(Duration.ofMillis(50)).get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.AcquireTimeout.class);
    List<CompletableFuture<Lease>> waiting = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      waiting.add(mutex.acquireAsync(LONG));
    }
    await().until(() -> locks.status().waiting() == 50);
    locks.close();
    for (CompletableFuture<Lease> each : waiting) {
      assertThatThrownBy(() -> each.get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.Closed.class);
    }
    await().until(() -> locks.status().waiting() == 0);
    assertThatThrownBy(() -> mutex.acquireAsync(LONG).get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.Closed.class);
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
  }
}
