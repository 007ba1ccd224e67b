package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates locks that a call finds missing. Creating one takes many steps, and each of them may take
 * a call timeout, or longer where a record is looked for. So it is done on a thread of the library,
 * and a call waits for it no longer than its own bound. What is created meanwhile, a later call
 * finds.
 *
 * <p>Concurrency: a creation is registered before it is handed to the pool, and removed before its
 * end is published. So of the calls in a process one begins it, and none waits for one that has
 * ended. Why it failed is told to the call that began it. The others begin another one, as long as
 * they have time.
 */
public final class FirstAcquires {

  private static final Logger log = LoggerFactory.getLogger(FirstAcquires.class);

  private final Executor background;
  private final Consumer<Call> creation;
  private final ConcurrentMap<LockId, Creation> underWay = new ConcurrentHashMap<>();

  private static final class Creation {
    final CompletableFuture<Void> end = new CompletableFuture<>();

    /** Whether the call that began it has ended. */
    volatile boolean abandoned;
  }

  /**
   * Creates nothing yet.
   *
   * @param background runs creations
   * @param creation creates the call's lock, or throws; the call tells how much time there is at
   *     the beginning
   */
  public FirstAcquires(Executor background, Consumer<Call> creation) {
    this.background = background;
    this.creation = creation;
  }

  /**
   * Returns when the call's lock was created.
   *
   * @throws LockException if the creation failed, or takes longer than the call
   */
  public void create(Call call) {
    Creation mine = new Creation();
    for (Creation other = underWay.putIfAbsent(call.lock(), mine);
        other != null;
        other = underWay.putIfAbsent(call.lock(), mine)) {
      if (hasSucceeded(call, other)) {
        return;
      }
    }
    begin(call, mine);
    try {
      awaitEnd(call, mine);
    } catch (LockException.Unanswered e) {
      mine.abandoned = true;
      throw e;
    } catch (ExecutionException e) {
      throw failure(e);
    }
  }

  private boolean hasSucceeded(Call call, Creation other) {
    try {
      awaitEnd(call, other);
      return true;
    } catch (ExecutionException e) {
      return false;
    }
  }

  private static void awaitEnd(Call call, Creation creation) throws ExecutionException {
    try {
      Void unused = Futures.await(creation.end, call.remainingNanos());
    } catch (TimeoutException e) {
      // No outage: the broker has answered so far, and others may be at work.
      throw LockException.Unanswered.contended(
          "The %s is being created or restored, which takes longer than %d ms (the call timeout); it goes on meanwhile, so try again"
              .formatted(call.lock(), call.bound().toMillis()));
    }
  }

  private static RuntimeException failure(ExecutionException e) {
    if (e.getCause() instanceof RuntimeException cause) {
      return cause;
    }
    return new IllegalStateException(e.getCause());
  }

  private void begin(Call call, Creation mine) {
    try {
      background.execute(() -> run(call, mine));
    } catch (RuntimeException | Error e) {
      underWay.remove(call.lock(), mine);
      mine.end.completeExceptionally(e);
    }
  }

  private void run(Call call, Creation mine) {
    try {
      creation.accept(call);
      underWay.remove(call.lock(), mine);
      mine.end.complete(null);
    } catch (Throwable e) {
      underWay.remove(call.lock(), mine);
      mine.end.completeExceptionally(e);
      if (mine.abandoned) {
        log.warn(
            "The {} could not be created or restored, and its next acquire tries again: {}",
            call.lock(),
            e.toString());
      }
      if (e instanceof Error error) {
        throw error;
      }
    }
  }
}
