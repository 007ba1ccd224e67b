package io.amqplocks.inmemory;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

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
}
