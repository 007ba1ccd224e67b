package io.amqplocks.inmemory;

import static io.amqplocks.inmemory.InMemoryLocksAssertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What TESTING tells users to write; {@code ReadmeTest} compares the two. */
class TestingPageTest {

  @Test
  void aBusyLock() {
    InMemoryLocks locks = InMemoryLocks.builder().timeStandsStill().build();
    AmqpLock report = locks.mutex("nightly-report");
    InMemoryLocks.Occupation elsewhere = locks.busy(report.id());
    CompletableFuture<Lease> lease = report.acquireAsync(Duration.ofMinutes(5));
    locks.advance(Duration.ofMinutes(5));
    assertThrows(CompletionException.class, lease::join);
    elsewhere.close();
  }

  @Nested
  class WithAssertions {

    @RegisterExtension final InMemoryLocksExtension locks = new InMemoryLocksExtension();

    @Test
    void theReportIsWrittenByOneAtATime() throws Exception {
      writeTheReportOnTwoThreads(locks.get());
      LockId report = LockId.mutex("nightly-report");
      assertThat(locks.get()).hasAcquiredExactly(report, report).hasHeldAtOnce(report, 1);
      assertThat(locks.get()).hasNeverHeld(LockId.mutex("weekly-report")).holdsNothing();
    }
  }

  private static void writeTheReportOnTwoThreads(AmqpLocks locks) throws Exception {
    Callable<Boolean> write =
        () -> {
          try (Lease lease = locks.mutex("nightly-report").acquire(Duration.ofSeconds(30))) {
            return lease.state() == LeaseState.HELD;
          }
        };
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      Future<Boolean> first = threads.submit(write);
      boolean unused = threads.submit(write).get(30, TimeUnit.SECONDS);
      boolean unusedToo = first.get(30, TimeUnit.SECONDS);
    } finally {
      threads.shutdownNow();
    }
  }

  @Nested
  class WithSettings {

    @RegisterExtension
    final InMemoryLocksExtension locks =
        InMemoryLocksExtension.of(
            () -> {
              InMemoryLocks fresh = InMemoryLocks.builder().timeStandsStill().build();
              fresh.admin().tokenSemaphore("images").create(5, TokenQueueType.QUORUM);
              return fresh;
            });

    @Test
    void theSemaphoreIsThere(AmqpLocks given) throws Exception {
      LockId images = LockId.tokenSemaphore("images");
      given.lock(images).withPermits(5).acquire(Duration.ofSeconds(30)).close();
      assertThat(locks.get()).hasHeldAtOnce(images, 5).hasNeverHeldMoreThan(images, 5);
    }
  }
}
