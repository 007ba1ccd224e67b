package io.amqplocks.support;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads of one process that write to a guarded row in turns, each under a fenced lease. A write
 * that is refused is wrong if the broker says afterwards that the lease is still held.
 *
 * <p>Concurrency: the threads count in atomic numbers, which any thread may read.
 */
public final class GuardedWriters implements AutoCloseable {

  private static final int THREADS = 4;
  private static final Duration LONG = Duration.ofSeconds(60);

  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger wrong = new AtomicInteger();
  private final AtomicInteger handedOver = new AtomicInteger();
  private final AtomicReference<Exception> died = new AtomicReference<>();
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private final List<Future<?>> writing = new ArrayList<>();
  private volatile boolean over;

  /** Starts to write to that row of the database. */
  public GuardedWriters(AmqpLock lock, String url, int row) {
    AmqpLock fenced = lock.fenced();
    for (int i = 0; i < THREADS; i++) {
      writing.add(
          threads.submit(
              () -> {
                try (Connection database = DriverManager.getConnection(url, "sa", "")) {
                  while (!over) {
                    write(fenced, database, row);
                  }
                } catch (Exception e) {
                  died.set(e);
                  throw e;
                }
                return null;
              }));
    }
  }

  private void write(AmqpLock lock, Connection database, int row) throws Exception {
    try (Lease lease = lock.acquire(LONG)) {
      FencingToken token = lease.fencingToken();
      if (GuardedTable.writeOnce(database, row, "by a thread", token.number())) {
        accepted.incrementAndGet();
      } else {
        refused.incrementAndGet();
        if (lease.verify() == LeaseState.HELD) {
          wrong.incrementAndGet();
        }
      }
      if (token.handOvers() > 0) {
        handedOver.incrementAndGet();
      }
    } catch (LockException.Unanswered | LockException.Unreachable e) {
      // After a stop of the process. The next attempt is on another connection.
    }
  }

  /** The writes that were accepted. */
  public int accepted() {
    return accepted.get();
  }

  /** The writes that were refused though the lease was held. */
  public int wrong() {
    return wrong.get();
  }

  /** The leases that were handed over within the process. */
  public int handedOver() {
    return handedOver.get();
  }

  /** Ends the writing. Throws what a thread threw. */
  @Override
  public void close() throws Exception {
    over = true;
    for (Future<?> each : writing) {
      each.get(2 * LONG.toSeconds(), TimeUnit.SECONDS);
    }
    threads.shutdown();
  }

  @Override
  public String toString() {
    return "accepted %d, refused %d, wrong %d, handed over %d, died of %s"
        .formatted(accepted.get(), refused.get(), wrong.get(), handedOver.get(), died);
  }
}
