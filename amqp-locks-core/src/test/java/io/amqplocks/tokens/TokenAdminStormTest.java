package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An administrator whose connections are cut at any moment never makes a token too many. */
@BrokerTest(everyLine = true)
class TokenAdminStormTest {

  private static final LockId ID = LockId.tokenSemaphore("s");
  private static final int MOST = 6;
  private static final int HOLDERS = 8;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  @Tag("trap-11")
  @ParameterizedTest
  @EnumSource
  void neverATokenTooMany(TokenQueueType type) throws Exception {
    TokenSemaphoreAdmin admin =
        fixture
            .open(fixture.builder().connectionName(fixture.prefix()))
            .admin()
            .tokenSemaphore("s");
    admin.create(2, type);
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger cuts = new AtomicInteger();
    CompletableFuture<Void> cutter =
        CompletableFuture.runAsync(() -> cut(fixture.prefix() + " administrator", over, cuts));
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger leases = new AtomicInteger();
    AmqpLocks users = fixture.open();
    List<CompletableFuture<Void>> holders =
        IntStream.range(0, HOLDERS)
            .mapToObj(
                i ->
                    CompletableFuture.runAsync(
                        () -> hold(users, over, inside, most, leases), threads))
            .toList();
    int failures = 0;
    int successes = 0;
    long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
    long latest = end + Duration.ofMinutes(1).toNanos();
    for (int round = 0;
        System.nanoTime() < end
            || ((successes == 0 || failures == 0 || leases.get() == 0)
                && System.nanoTime() < latest);
        round++) {
      try {
        admin.resize(round % 2 == 0 ? MOST : 2);
        successes++;
      } catch (LockException e) {
        failures++;
      }
    }
    over.set(true);
    cutter.join();
    holders.forEach(CompletableFuture::join);
    assertThat(most.get()).isBetween(1, MOST);
    assertThat(leases.get()).isPositive();
    assertThat(successes).isPositive();
    assertThat(cuts.get()).isPositive();
    assertThat(failures).isPositive();
    TokenSemaphoreAdmin other = fixture.open().admin().tokenSemaphore("s");
    // What the one that was cut off had in hand may be on its way back yet.
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .untilAsserted(
            () -> assertThat(Tokens.resized(other, MOST).tokens()).isLessThanOrEqualTo(MOST));
    TokenAudit found = other.repair(Duration.ofSeconds(3));
    assertThat(found.surplus()).isZero();
    assertThat(found.seen()).isLessThanOrEqualTo(MOST);
    assertThat(Tokens.audit(other)).isEqualTo(new TokenAudit(MOST, MOST, 0, 0, Set.of(), false));
    String queue =
        fixture.names().tokens(ID, Tokens.generation(fixture.broker(), fixture.names(), ID));
    assertThat(Tokens.idle(fixture.broker(), queue)).hasSize(MOST).doesNotHaveDuplicates();
  }

  private static void hold(
      AmqpLocks users,
      AtomicBoolean over,
      AtomicInteger inside,
      AtomicInteger most,
      AtomicInteger leases) {
    while (!over.get()) {
      try (Lease lease = users.tokenSemaphore("s").acquire(Duration.ofMillis(500))) {
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        LockSupport.parkNanos(2_000_000);
        inside.decrementAndGet();
        leases.incrementAndGet();
        // It may have moved to a token that this process has to look up in the record.
        // On 3.10 a quorum queue under such a storm may end the connection of all quorum leases
        // (541).
        if (lease.state() == LeaseState.LOST) {
          assertThat(lease.lossReason().orElseThrow().cause())
              .isEqualTo(LossReason.Cause.SESSION_ENDED);
        } else {
          assertThat(lease.state()).isIn(LeaseState.HELD, LeaseState.UNCERTAIN);
        }
      } catch (LockException.AcquireTimeout | LockException.Unreachable e) {
        // An administrator has all in hand just now.
        Thread.onSpinWait();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private void cut(String connection, AtomicBoolean over, AtomicInteger cuts) {
    while (!over.get()) {
      // Sometimes long enough for a change to succeed, or each would begin where the last one did.
      ThreadLocalRandom random = ThreadLocalRandom.current();
      long most = random.nextInt(8) == 0 ? 3_000_000_000L : 300_000_000L;
      LockSupport.parkNanos(random.nextLong(most));
      try {
        fixture.broker().faults().closeConnections(connection, "test");
        cuts.incrementAndGet();
      } catch (IllegalStateException e) {
        // None is open just now.
        Thread.onSpinWait();
      }
    }
  }
}
