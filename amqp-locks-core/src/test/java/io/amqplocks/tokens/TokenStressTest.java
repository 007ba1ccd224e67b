package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.Crowd;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.SlotBoard;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Sixteen clients in two processes: never more holders than slots, no token lost or made, and
 * fencing tokens that rise. The system property {@code amqp-locks.stress} says how often they
 * acquire in each run; 100000 is what was promised, and takes most of an hour.
 */
@BrokerTest(everyLine = true)
class TokenStressTest {

  private static final int CLIENTS = 16;
  private static final int LEASES = Integer.getInteger("amqp-locks.stress", 800);

  @RegisterExtension private final Fixture fixture = new Fixture();

  @ParameterizedTest
  @EnumSource
  void neverMoreHoldersThanSlots(TokenQueueType type, @TempDir Path boards) throws Exception {
    AmqpLocks locks = fixture.open();
    String half = "" + CLIENTS / 2;
    try (Crowd here =
            new Crowd(fixture.broker().connectionFactory(), fixture.prefix(), CLIENTS / 2);
        ChildJvm there =
            ChildJvm.of(Crowd.class)
                .args(fixture.broker().uri(), fixture.prefix(), half, boards.toString())
                .start()) {
      there.awaitLine("READY", Duration.ofSeconds(90));
      for (int slots : new int[] {1, 2, 5}) {
        String name = "s" + slots;
        TokenSemaphoreAdmin admin = locks.admin().tokenSemaphore(name);
        admin.create(slots, type);
        SlotBoard board = new SlotBoard(boards.resolve(name), slots);
        boolean fenced = type == TokenQueueType.QUORUM;
        int times = LEASES / CLIENTS;
        long start = System.nanoTime();
        there.send(name + " " + slots + " " + fenced + " " + times);
        here.acquire(name, fenced, times, board);
        there.awaitLine("DONE " + name, Duration.ofHours(1));
        report(type, slots, board, System.nanoTime() - start);
        assertThat(board.leases()).isEqualTo((long) times * CLIENTS);
        assertThat(board.violations()).isZero();
        assertAllAtOnce(locks.tokenSemaphore(name), slots);
        assertThat(Tokens.audit(admin))
            .isEqualTo(new TokenAudit(slots, slots, 0, 0, Set.of(), false));
      }
    }
  }

  /**
   * As many as there are slots, and not one more; the crowd may never have been that many at once.
   */
  private static void assertAllAtOnce(AmqpLock lock, int slots) throws InterruptedException {
    Deque<Lease> held = new ArrayDeque<>();
    try {
      for (int i = 0; i < slots; i++) {
        held.push(lock.acquire(Duration.ofMinutes(1)));
      }
      assertThat(lock.tryAcquire()).isEmpty();
    } finally {
      held.forEach(Lease::close);
    }
  }

  private void report(TokenQueueType type, int slots, SlotBoard board, long nanos) {
    System.out.printf(
        "%d leases of %d %s slots on RabbitMQ %s by %d clients: %.1f s, %.0f/s, at most %d at once,"
            + " %d violations%n",
        board.leases(),
        slots,
        type,
        fixture.broker().version(),
        CLIENTS,
        nanos / 1e9,
        board.leases() * 1e9 / nanos,
        board.most(),
        board.violations());
  }
}
