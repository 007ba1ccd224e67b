package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * How long it takes to verify many tokens, as many at a time as a pass does: printed, not judged; for
 * ADR 40. Not run with the tests, but by {@code -Dtest=TokenProofNumbers}.
 */
@BrokerTest(everyLine = true, ownBroker = true)
class TokenProofNumbers {

  private static final int LEASES = Integer.getInteger("amqp-locks.leases", 1_000);
  private static final int EACH = 1_000;
  private static final int AT_ONCE = 8;

  @ParameterizedTest
  @EnumSource
  void print(TokenQueueType type, Broker broker) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try (Fixture fixture = new Fixture(broker)) {
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < LEASES; i += EACH) {
        AmqpLocks locks =
            fixture.open(fixture.seldomVerifying().callTimeout(Duration.ofMinutes(1)));
        String name = "s" + i;
        locks.admin().tokenSemaphore(name).create(EACH, type);
        for (int n = 0; n < EACH; n++) {
          leases.add(locks.tokenSemaphore(name).acquire(Duration.ofMinutes(1)));
        }
      }
      for (int pass = 0; pass < 4; pass++) {
        Queue<Lease> left = new ConcurrentLinkedQueue<>(leases);
        Callable<Void> worker =
            () -> {
              for (Lease lease = left.poll(); lease != null; lease = left.poll()) {
                assertThat(lease.verify()).as(lease.toString()).isEqualTo(LeaseState.HELD);
              }
              return null;
            };
        long start = System.nanoTime();
        List<Future<Void>> workers = new ArrayList<>();
        for (int i = 0; i < AT_ONCE; i++) {
          workers.add(threads.submit(worker));
        }
        for (Future<Void> each : workers) {
          each.get();
        }
        System.out.printf(
            "%s, %s: pass %d of %d leases: %d ms%n",
            broker.version(), type, pass, leases.size(), (System.nanoTime() - start) / 1_000_000);
      }
      fixture.close();
      Tokens.clear(broker, fixture.prefix());
    } finally {
      threads.shutdownNow();
    }
  }
}
