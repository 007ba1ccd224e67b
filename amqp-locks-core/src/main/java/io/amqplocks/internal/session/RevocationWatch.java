package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
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
 * the thread then opens another and consumes anew on the queues that are left. Tags are never used
 * twice, so a late notice for a released queue does not meet the next holder's.
 */
public final class RevocationWatch {

  private static final Logger log = LoggerFactory.getLogger(RevocationWatch.class);

  private final Connection connection;
  private final Executor watchThread;
  private final Map<String, Watched> watched = new ConcurrentHashMap<>();
  private @Nullable Channel channel;
  private long lastTag;

  private record Watched(String queue, Runnable revoked) {}

  RevocationWatch(Connection connection, Executor watchThread) {
    this.connection = connection;
    this.watchThread = watchThread;
  }

  /**
   * Watches a queue that this session just took. Only the owner may consume, so success also proves
   * that the queue is still the session's.
   *
   * @param revoked is called once, on a thread of the client library, when the queue goes; it must
   *     not block
   * @return false if the queue is gone already, or another's
   */
  public boolean watch(Call call, String queue, Runnable revoked) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    try {
      watchThread.execute(() -> consume(queue, revoked, done));
      return Futures.await(done, call.remainingNanos());
    } catch (RejectedExecutionException | TimeoutException e) {
      throw call.unanswered("watch queue " + queue);
    } catch (ExecutionException e) {
      throw BrokerErrors.calling(call, "consume from queue " + queue, e);
    }
  }

  private void consume(String queue, Runnable revoked, CompletableFuture<Boolean> done) {
    try {
      done.complete(consume(new Watched(queue, revoked)));
    } catch (IOException | RuntimeException e) {
      done.completeExceptionally(e);
    }
    restore();
  }

  private boolean consume(Watched queue) throws IOException {
    if (channel == null || !channel.isOpen()) {
      channel = open();
    }
    String tag = "watch-" + ++lastTag;
    watched.put(tag, queue);
    try {
      channel.basicConsume(queue.queue(), true, tag, new Revocation(channel));
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

  /** After the channel broke: everything that was watched on it is watched on a new one. */
  private void restore() {
    while (channel == null && !watched.isEmpty() && connection.isOpen()) {
      Map<String, Watched> all = Map.copyOf(watched);
      watched.keySet().removeAll(all.keySet());
      for (Watched each : all.values()) {
        try {
          if (!consume(each)) {
            each.revoked().run();
          }
        } catch (IOException | RuntimeException e) {
          log.warn("Cannot watch queue {}: {}", each.queue(), BrokerErrors.text(e));
        }
      }
    }
  }

  private Channel open() throws IOException {
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
