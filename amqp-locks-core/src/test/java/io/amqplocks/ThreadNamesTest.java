package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whose a thread is, for who reads a thread dump of an application. */
@BrokerTest
class ThreadNamesTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  /** Applications name their connections after themselves, and many of their own threads too. */
  @Test
  void threadsCarryTheNameOfTheLibraryBeforeThatOfTheApplication() throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(fixture.prefix()));
    try (Lease first = locks.mutex("m").acquireAsync(Fixture.AT_ONCE).get(30, TimeUnit.SECONDS)) {
      CompletableFuture<Lease> second = locks.mutex("m").acquireAsync(Fixture.AT_ONCE);
      List<Thread> threads =
          Thread.getAllStackTraces().keySet().stream()
              .filter(thread -> thread.getName().contains(fixture.prefix()))
              .toList();
      assertThat(threads)
          .isNotEmpty()
          .allMatch(thread -> thread.getName().startsWith("amqp-locks " + fixture.prefix()))
          .allMatch(Thread::isDaemon);
      assertThat(first.lossReason()).isEmpty();
      second.cancel(true);
    }
  }

  @Test
  void aNameThatBeginsWithTheLibrarysIsNotDoubled() throws Exception {
    String name = "amqp-locks of " + fixture.prefix();
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(name));
    locks.mutex("m").acquireAsync(Fixture.AT_ONCE).get(30, TimeUnit.SECONDS).close();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .filteredOn(thread -> thread.contains(fixture.prefix()))
        .isNotEmpty()
        .allMatch(thread -> thread.startsWith(name));
  }

  /** They serve all callers, and a security context, for example, is one caller's. */
  @Test
  void noThreadHasWhatItsFirstCallerHad() throws Exception {
    InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
    AmqpLock lock = fixture.open().mutex("m");
    user.set("first");
    try (Lease first = lock.acquireAsync(Fixture.AT_ONCE).get(30, TimeUnit.SECONDS)) {
      user.remove();
      CompletableFuture<String> seen =
          lock.acquireAsync(Duration.ofSeconds(30))
              .thenApply(
                  second -> {
                    second.close();
                    return Thread.currentThread().getName() + " has " + user.get();
                  });
      assertThat(seen).isNotDone();
      first.close();
      assertThat(seen.get(60, TimeUnit.SECONDS)).startsWith("amqp-locks").endsWith(" has null");
    }
  }
}
