package io.amqplocks.internal.exclusive;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A watch of one queue that is about to begin, or has begun.
 *
 * <p>Concurrency: the thread that begins the watch and the thread that stops it race for one flag.
 * If the watch is first, the other thread waits until the consumer exists. If not, the watch never
 * begins.
 */
public final class QueueWatch {

  private static final Logger log = LoggerFactory.getLogger(QueueWatch.class);

  private final AtomicBoolean settled = new AtomicBoolean();
  private final CompletableFuture<Void> done = new CompletableFuture<>();

  boolean begin() {
    return settled.compareAndSet(false, true);
  }

  void done() {
    done.complete(null);
  }

  /** Stops the watch. After this the queue may be deleted. */
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
