package io.amqplocks.internal.exclusive;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ChannelCloser;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueCache;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes from the session's exclusive queues, so that the broker reports at once when one is
 * deleted under its holder. A consumer also prevents a policy's {@code expires} from deleting the
 * queue. Probes that others publish are delivered here and dropped. They are acknowledged at once,
 * because an unacknowledged one would run into the broker's delivery timeout.
 *
 * <p>Concurrency: one channel serves all queues, and only the watch thread uses it. So no lock is
 * held during a request to the broker. The broker closes that channel if a queue to be watched has
 * gone. The thread then consumes again on another channel, until each remaining queue has a
 * consumer on the open channel. If a queue does not answer, its channel is given up as well, and
 * stays open until the answer comes. Until then nobody consumes from that queue again, so a queue
 * that hangs for hours costs one channel. A queue that the broker refuses to have consumed would
 * close the channel each time, and is tried on one of its own until the broker lets it be. Tags are
 * never used twice, so a late cancel for a released queue does not reach the next holder. A cancel
 * may arrive on the client's thread while the watch thread consumes. The thread that removes the
 * entry from the map notifies its owner.
 */
public final class QueueDeletionWatch {

  private static final Logger log = LoggerFactory.getLogger(QueueDeletionWatch.class);

  private static final PerSession<QueueDeletionWatch> SESSIONS =
      new PerSession<>(QueueDeletionWatch::begin);

  private static final long RETRY_MILLIS = 500;

  private static final long LONGEST_PAUSE_MILLIS = 10_000;

  private final Connection connection;
  private final ScheduledExecutorService watchThread;
  private final Map<String, WatchedQueue> watched = new ConcurrentHashMap<>();
  private final QueueCache proven = new QueueCache();

  /** The queues whose answer to a consume is overdue. */
  private final Set<String> overdue = new HashSet<>();

  /** The queues that the broker refused to have consumed. While there is one, it is retried. */
  private final Set<String> refused = new LinkedHashSet<>();

  private @Nullable Channel channel;
  private boolean retries;
  private long pauseMillis = RETRY_MILLIS;
  private long lastTag;

  /** The watch of that session. */
  public static QueueDeletionWatch of(Session session) {
    return SESSIONS.of(session);
  }

  private static QueueDeletionWatch begin(Session session) {
    ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, session.threads());
    thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    // Tasks that are already queued still run, and fail at once.
    session.join(reason -> thread.shutdown());
    return new QueueDeletionWatch(session.connection(), thread);
  }

  QueueDeletionWatch(Connection connection, ScheduledExecutorService watchThread) {
    this.connection = connection;
    this.watchThread = watchThread;
  }

  /**
   * Watches a queue that this session just declared. Only the owner may consume, so success also
   * proves that the queue is still the session's.
   *
   * @param revoked is called once when the queue is deleted, on another thread than the caller's;
   *     must not block
   * @return false if the queue is already gone, or belongs to another connection
   */
  public boolean watch(Call call, String queue, Runnable revoked) {
    if (!watchAndWait(call, queue, revoked)) {
      return false;
    }
    proven.add(queue);
    return true;
  }

  /**
   * Whether a queue of that name was watched before. In that case only its absence can prevent a
   * watch.
   */
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
      // If the watch has not begun, it need not begin: the caller will give up the queue.
      done.cancel(false);
      throw call.unanswered(step);
    } catch (ExecutionException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  /**
   * Watches a queue that this session just declared, but not at once: a holder that releases at
   * once needs no watch. If the queue is gone by then, {@code revoked} is called as for a later
   * deletion.
   *
   * @param revoked as for {@link #watch}
   * @return the watch, to be stopped before the queue is deleted: a consume of an absent queue
   *     would close the channel of all watches
   */
  public QueueWatch watchSoon(String queue, Runnable revoked) {
    QueueWatch watch = new QueueWatch();
    tryExecute(
        () -> {
          if (watch.begin()) {
            try {
              String tag = "watch-" + ++lastTag;
              WatchedQueue begun = new WatchedQueue(queue, revoked, null);
              if (isPutOff(queue)) {
                watched.put(tag, begun);
              } else {
                restore(tag, begun);
              }
            } finally {
              watch.done();
            }
            restore();
          }
        });
    return watch;
  }

  /**
   * For a queue that was found to be gone. Its consumer is usually ended with it. If not, a node of
   * a cluster deleted only the record of the queue when it found this one again (trap 27). The
   * queue's process lives on with this connection. Until that ends, whoever declares the queue on
   * the same node loses a connection with all of its leases, and is told late. So the session ends.
   *
   * @param within how long the news of the consumer's end may take
   */
  public void requireEnd(Session session, String queue, Duration within) {
    tryExecute(
        () -> {
          Set<String> consumers = consumersOf(queue);
          later(
              () -> {
                if (!Collections.disjoint(consumers, consumersOf(queue))) {
                  session.end(
                      new LossReason(
                          Cause.SESSION_ENDED,
                          "RabbitMQ deleted queue %s without its process; ended so that it can be declared again"
                              .formatted(queue)));
                }
              },
              within.toMillis());
        });
  }

  /** The tags of those that the broker has not ended. */
  private Set<String> consumersOf(String queue) {
    return watched.entrySet().stream()
        .filter(entry -> entry.getValue().queue().equals(queue))
        .filter(entry -> !entry.getValue().isAstray(channel))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private void consume(String queue, Runnable revoked, CompletableFuture<Boolean> done) {
    if (done.isDone()) {
      return;
    }
    if (overdue.contains(queue)) {
      done.completeExceptionally(new TimeoutException("the last consume is not answered yet"));
      return;
    }
    try {
      done.complete(consume("watch-" + ++lastTag, new WatchedQueue(queue, revoked, null), open()));
    } catch (IOException | RuntimeException e) {
      done.completeExceptionally(e);
    }
    restore();
  }

  private boolean consume(String tag, WatchedQueue queue, Channel on) throws IOException {
    watched.put(tag, queue.on(on));
    try {
      on.basicConsume(queue.queue(), true, tag, new Revocation(on));
      return true;
    } catch (IOException | ShutdownSignalException e) {
      watched.remove(tag);
      // Either the channel is closed, or its next reply would be the reply to this consume.
      abandonChannel(queue.queue());
      if (BrokerErrors.expected(e) != null) {
        return false;
      }
      throw e;
    }
  }

  /**
   * Consumes again from all queues whose consumer is not on the open channel, until there is none.
   */
  private void restore() {
    List<String> astray = astray();
    while (!astray.isEmpty() && connection.isOpen()) {
      for (String tag : astray) {
        WatchedQueue each = watched.remove(tag);
        if (each != null && !restore(tag, each)) {
          return;
        }
      }
      astray = astray();
    }
  }

  /** False if there is no use in going on with other queues for now. */
  private boolean restore(String tag, WatchedQueue each) {
    Channel on = null;
    try {
      on = open();
      if (!consume("watch-" + ++lastTag, each, on)) {
        each.revoked().run();
      }
      return true;
    } catch (IOException | RuntimeException e) {
      log.warn("Queue {} is not watched for now: {}", each.queue(), BrokerErrors.text(e));
      watched.put(tag, each);
      if (on != null && !on.isOpen()) {
        refused.add(each.queue());
      }
      retryLater();
      return on != null && connection.isOpen();
    }
  }

  private void retry() {
    retries = false;
    // One that is still refused is the last to be tried again, and the others wait for it: each
    // costs the broker a channel, and acquires wait for this thread.
    boolean again = List.copyOf(refused).stream().anyMatch(queue -> !tryAlone(queue));
    pauseMillis = again ? Math.min(LONGEST_PAUSE_MILLIS, 2 * pauseMillis) : RETRY_MILLIS;
    restore();
    if (!refused.isEmpty()) {
      retryLater();
    }
  }

  /**
   * A queue that is no longer refused is consumed as all others when that channel is closed.
   *
   * @return false if it is refused
   */
  private boolean tryAlone(String queue) {
    Channel alone = null;
    try {
      alone = newChannel();
      alone.basicConsume(queue, true, new DefaultConsumer(alone));
    } catch (IOException | RuntimeException e) {
      if (BrokerErrors.expected(e) != null) {
        // It has gone, which its owner is told when it is consumed as all others.
        refused.remove(queue);
      }
    }
    if (alone != null && alone.isOpen()) {
      refused.remove(queue);
      giveUp(alone, queue);
    }
    boolean still = refused.remove(queue);
    if (still) {
      refused.add(queue);
    }
    return !still;
  }

  private boolean isPutOff(String queue) {
    return overdue.contains(queue) || refused.contains(queue);
  }

  private List<String> astray() {
    return watched.entrySet().stream()
        .filter(entry -> entry.getValue().isAstray(channel))
        .filter(entry -> !isPutOff(entry.getValue().queue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  private Channel open() throws IOException {
    Channel present = channel;
    if (present != null && present.isOpen()) {
      return present;
    }
    Channel opened = newChannel();
    opened.addShutdownListener(
        cause -> {
          if (!cause.isHardError() && !cause.isInitiatedByApplication()) {
            tryExecute(() -> restoreAfter(opened));
          }
        });
    channel = opened;
    return opened;
  }

  private Channel newChannel() throws IOException {
    Channel opened = connection.createChannel();
    if (opened == null) {
      throw new IOException("all channels of the connection are in use");
    }
    // If a consume is confirmed too late, the client does not know that consumer, and would end the
    // connection at its first message.
    opened.setDefaultConsumer(new DefaultConsumer(opened));
    return opened;
  }

  private void restoreAfter(Channel closed) {
    if (closed.equals(channel)) {
      channel = null;
      restore();
    }
  }

  private void abandonChannel(String queue) {
    Channel abandoned = channel;
    channel = null;
    if (abandoned != null && abandoned.isOpen()) {
      giveUp(abandoned, queue);
    }
  }

  /** The queue is consumed again when that channel is closed. */
  private void giveUp(Channel abandoned, String queue) {
    overdue.add(queue);
    ChannelCloser.closeWhenAnswered(
        abandoned,
        watchThread,
        () -> {
          overdue.remove(queue);
          restore();
        });
  }

  private void retryLater() {
    if (retries) {
      return;
    }
    retries = true;
    later(this::retry, pauseMillis);
  }

  private void later(Runnable task, long millis) {
    try {
      var unused = watchThread.schedule(task, millis, TimeUnit.MILLISECONDS);
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

  /** Receives the broker's {@code basic.cancel}. */
  private final class Revocation extends DefaultConsumer {
    Revocation(Channel channel) {
      super(channel);
    }

    @Override
    public void handleCancel(String consumerTag) {
      WatchedQueue gone = watched.remove(consumerTag);
      if (gone != null) {
        gone.revoked().run();
      }
    }
  }

  /**
   * A queue that is watched.
   *
   * @param queue the queue
   * @param revoked is called when the queue is deleted
   * @param on the channel of the queue's consumer; null if there is none yet
   */
  private record WatchedQueue(String queue, Runnable revoked, @Nullable Channel on) {

    /** Whether the queue has no consumer on the open channel. */
    boolean isAstray(@Nullable Channel open) {
      return on == null || !on.equals(open);
    }

    WatchedQueue on(Channel other) {
      return new WatchedQueue(queue, revoked, other);
    }
  }
}
