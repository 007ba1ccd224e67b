package io.amqplocks.internal.session;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A watch that is about to begin, or has.
 *
 * <p>Concurrency: who would begin it and who would stop it race for one flag. If the watch was first, the
 * other waits until its consumer is there; if not, it never is.
 */
public final class Watch {

  private static final Logger log = LoggerFactory.getLogger(Watch.class);

  private final AtomicBoolean settled = new AtomicBoolean();
  private final CompletableFuture<Void> done = new CompletableFuture<>();

  boolean begin() {
    return settled.compareAndSet(false, true);
  }

  void done() {
    done.complete(null);
  }

  /** From now on the queue may be deleted. */
  public void stop(Call call) {
    if (settled.compareAndSet(false, true)) {
      return;
    }
    try {
      Futures.await(done, call.remainingNanos());
    } catch (TimeoutException | ExecutionException e) {
      log.debug("A queue of {} is deleted while its watch begins", call.lock());
    }
  }
}
