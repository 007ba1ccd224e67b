package io.amqplocks.benchmarks.scale;

import io.amqplocks.AmqpLocks;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A client with connections of its own. It wants a lock for as long as it is told to: it acquires
 * it again when it is lost, as an application does.
 *
 * <p>Concurrency: its owner's thread tells it what to want, and threads of the library tell it what
 * it got. Whoever gets a lease notes it and then looks whether it is still wanted; whoever no
 * longer wants it notes that and then looks for a lease. So one of the two closes it.
 */
final class Client implements AutoCloseable {

  /** Longer than anything here takes. */
  private static final Duration PATIENCE = Duration.ofMinutes(30);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS);

  private final AmqpLocks locks;
  private final AtomicInteger errors = new AtomicInteger();
  private volatile @Nullable AmqpLock wanted;
  private volatile @Nullable CompletableFuture<Lease> call;
  private volatile @Nullable Lease lease;
  private volatile long heldSince;

  Client(String uri, String prefix) throws Exception {
    locks = AmqpLocks.builder(Lab.factory(uri)).queuePrefix(prefix).connectionName("scale").build();
    locks.connect();
  }

  /** Wants that mutex from now on. */
  void want(String name) {
    wanted = locks.mutex(name);
    acquire();
  }

  private void acquire() {
    AmqpLock lock = wanted;
    if (lock != null) {
      CompletableFuture<Lease> asked = lock.acquireAsync(PATIENCE);
      call = asked;
      CompletableFuture<Lease> unused = asked.whenComplete(this::answered);
    }
  }

  private void answered(@Nullable Lease got, @Nullable Throwable failure) {
    if (got != null) {
      heldSince = System.currentTimeMillis();
      lease = got;
      CompletionStage<Void> unused = got.whenLost().thenRun(this::acquire);
      if (wanted == null) {
        got.close();
      }
    } else if (wanted != null) {
      errors.incrementAndGet();
      LATER.execute(this::acquire);
    }
  }

  /** Wants nothing any more. */
  void release() {
    wanted = null;
    CompletableFuture<Lease> asked = call;
    if (asked != null) {
      asked.cancel(true);
    }
    Lease held = lease;
    if (held != null) {
      held.close();
    }
    forget();
  }

  /** As if it had never held anything, and met no error. */
  void forget() {
    heldSince = 0;
    errors.set(0);
  }

  /**
   * Since when it has held the lock, by the machine's clock; 0 if not since it was told to forget.
   */
  long heldSince() {
    return heldSince;
  }

  /** How many calls ended otherwise. */
  int errors() {
    return errors.get();
  }

  @Override
  public void close() {
    release();
    locks.close();
  }
}
