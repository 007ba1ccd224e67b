package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes on the session's exclusive queues, so that the broker says at once when one is deleted
 * under its holder. A consumer also keeps a policy's {@code expires} from taking the queue. Probes that
 * others publish are delivered here and dropped, at once acknowledged: one kept unacknowledged would
 * run into the broker's delivery timeout.
 *
 * <p>Concurrency: one channel serves all queues and only the watch thread uses it, so there is no lock
 * to hold while the broker is asked. The broker closes that channel if a queue to be watched has gone;
 * the thread then consumes anew, on another, until each queue that is left is consumed on the channel
 * that is open. Tags are never used twice, so a late notice for a released queue does not meet the next
 * holder's. A cancel may come on the client's thread while the watch thread consumes: whoever takes the
 * entry out of the map calls its owner.
 */
public final class RevocationWatch {

  private static final Logger log = LoggerFactory.getLogger(RevocationWatch.class);

  private static final long RETRY_MILLIS = 500;

  private final Connection connection;
  private final ScheduledExecutorService watchThread;
  private final Map<String, Watched> watched = new ConcurrentHashMap<>();
  private final KnownQueues proven = new KnownQueues();
  private @Nullable Channel channel;
  private long lastTag;

  RevocationWatch(Connection connection, ScheduledExecutorService watchThread) {
    this.connection = connection;
    this.watchThread = watchThread;
  }

  /**
   * Watches a queue that this session just took. Only the owner may consume, so success also proves
   * that the queue is still the session's.
   *
   * @param revoked is called once when the queue goes, on a thread that is not the caller's; it must
   *     not block
   * @return false if the queue is gone already, or another's
   */
  public boolean watch(Call call, String queue, Runnable revoked) {
    if (!watchAndWait(call, queue, revoked)) {
      return false;
    }
    proven.add(queue);
    return true;
  }

  /** Whether a queue of that name was watched before: then nothing but its absence can hinder. */
  public boolean mayWatch(String queue) {
    return proven.contains(queue);
  }

  private boolean watchAndWait(Call call, String queue, Runnable revoked) {
    String step = "consume from queue " + queue;
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    try {
      watchThread.execute(() -> consume(queue, revoked, done));
      return Futures.await(done, call.remainingNanos());
    } catch (RejectedExecutionException e) {
      throw new LockException.Unreachable("The session ended while acquiring " + call.lock(), e);
    } catch (TimeoutException e) {
      // Not begun yet, it need not begin: the queue will be given up.
      done.cancel(false);
      throw call.unanswered(step);
    } catch (ExecutionException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  /**
   * Watches a queue that this session just took, from a moment later on: a holder that gives back at once
   * needs no watching. If the queue has gone by then, that is said as if it went later.
   *
   * @param revoked as for {@link #watch}
   * @return to be stopped before the queue is deleted: to consume a queue that is not there would cost
   *     the watch its channel
   */
  public Watch watchSoon(String queue, Runnable revoked) {
    Watch watch = new Watch();
    tryExecute(
        () -> {
          if (watch.begin()) {
            try {
              restore("watch-" + ++lastTag, new Watched(queue, revoked, null));
            } finally {
              watch.done();
            }
            restore();
          }
        });
    return watch;
  }

  private void consume(String queue, Runnable revoked, CompletableFuture<Boolean> done) {
    if (done.isDone()) {
      return;
    }
    try {
      done.complete(consume("watch-" + ++lastTag, new Watched(queue, revoked, null), open()));
    } catch (IOException | RuntimeException e) {
      done.completeExceptionally(e);
    }
    restore();
  }

  private boolean consume(String tag, Watched queue, Channel on) throws IOException {
    watched.put(tag, queue.on(on));
    try {
      on.basicConsume(queue.queue(), true, tag, new Revocation(on));
      return true;
    } catch (IOException | ShutdownSignalException e) {
      watched.remove(tag);
      // The channel is closed, or its next answer would be this one's.
      abandonChannel();
      if (BrokerErrors.expected(e) != null) {
        return false;
      }
      throw e;
    }
  }

  /** Consumes anew on everything whose channel is not the open one, until there is no such queue. */
  private void restore() {
    List<String> astray = astray();
    while (!astray.isEmpty() && connection.isOpen()) {
      for (String tag : astray) {
        Watched each = watched.remove(tag);
        if (each != null && !restore(tag, each)) {
          return;
        }
      }
      astray = astray();
    }
  }

  private boolean restore(String tag, Watched each) {
    try {
      if (!consume("watch-" + ++lastTag, each, open())) {
        each.revoked().run();
      }
      return true;
    } catch (IOException | RuntimeException e) {
      log.warn("Queue {} is not watched for now: {}", each.queue(), BrokerErrors.text(e));
      watched.put(tag, each);
      retryLater();
      return false;
    }
  }

  private List<String> astray() {
    return watched.entrySet().stream()
        .filter(entry -> entry.getValue().isAstray(channel))
        .map(Map.Entry::getKey)
        .toList();
  }

  private Channel open() throws IOException {
    Channel present = channel;
    if (present != null && present.isOpen()) {
      return present;
    }
    Channel opened = connection.createChannel();
    if (opened == null) {
      throw new IOException("all channels of the connection are in use");
    }
    opened.addShutdownListener(
        cause -> {
          if (!cause.isHardError() && !cause.isInitiatedByApplication()) {
            tryExecute(() -> restoreAfter(opened));
          }
        });
    channel = opened;
    return opened;
  }

  private void restoreAfter(Channel closed) {
    if (closed.equals(channel)) {
      channel = null;
      restore();
    }
  }

  private void abandonChannel() {
    Channel abandoned = channel;
    channel = null;
    if (abandoned != null && abandoned.isOpen()) {
      try {
        abandoned.abort();
      } catch (IOException | ShutdownSignalException e) {
        log.debug("Channel of the watch not closed: {}", e.getMessage());
      }
    }
  }

  private void retryLater() {
    try {
      var unused = watchThread.schedule(() -> restore(), RETRY_MILLIS, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      log.debug("The session has ended; nothing is watched any more");
    }
  }

  private void tryExecute(Runnable task) {
    try {
      watchThread.execute(task);
    } catch (RejectedExecutionException e) {
      log.debug("The session has ended; nothing is watched any more");
    }
  }

  /** Hears the broker's basic.cancel. */
  private final class Revocation extends DefaultConsumer {
    Revocation(Channel channel) {
      super(channel);
    }

    @Override
    public void handleCancel(String consumerTag) {
      Watched gone = watched.remove(consumerTag);
      if (gone != null) {
        gone.revoked().run();
      }
    }
  }
}
