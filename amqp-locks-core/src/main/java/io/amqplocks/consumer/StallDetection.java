package io.amqplocks.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices that the broker sends nothing although the queue has messages for a consumer. RabbitMQ
 * says so to nobody. For instance, it sends the messages of a quorum queue by the member of the
 * queue on the consumer's own node, and that member may be far behind. Acknowledgements that are
 * lost with a leader use up the prefetch.
 *
 * <p>If nothing came for five seconds, the queue is asked how many messages it has for a consumer.
 * If it has some, and again after as long, without a message in between, it has stalled. So has a
 * queue that does not answer within a minute, for instance because its node is frozen. A connection
 * that stalled is closed, and a quorum queue counts that as a failed delivery of what it had sent.
 * So the time doubles with each stall, up to two minutes, until a connection is sent more than it
 * may keep.
 *
 * <p>Concurrency: one of them is for one connection and the thread that consumes by it. The number
 * of stalls in a row is the process's. It never waits for the queue, which may be busy. The
 * client's threads complete the future.
 */
final class StallDetection {

  private static final Logger log = LoggerFactory.getLogger(StallDetection.class);

  private static final long SHORTEST = TimeUnit.SECONDS.toNanos(5);
  private static final long LONGEST = TimeUnit.MINUTES.toNanos(2);

  /** A queue that may not be asked is asked again after that. */
  private static final long ASK_AGAIN = TimeUnit.MINUTES.toNanos(1);

  /** After so many connections in a row that were sent nothing, another process is to try. */
  private static final int MOST_STALLS = 2;

  private final SoleConsumerBuilder settings;
  private final Connection connection;
  private final AtomicInteger stalls;
  private int received;
  private long quietSince = System.nanoTime();
  private boolean wereReady;
  private @Nullable Channel asking;
  private @Nullable CompletableFuture<Command> answer;
  private boolean isAnswerOld;
  private long askedAt = quietSince;
  private long askAgainAt = quietSince;

  /**
   * The queue is consumed by that connection from now on.
   *
   * @param stalls in a row, by the connections of this process
   */
  StallDetection(SoleConsumerBuilder settings, Connection connection, AtomicInteger stalls) {
    this.settings = settings;
    this.connection = connection;
    this.stalls = stalls;
  }

  /** Whether so many connections stalled in a row that another process is to try. */
  static boolean areTooMany(int stalls) {
    return stalls >= MOST_STALLS;
  }

  /** A message came. */
  void received() {
    quietSince = System.nanoTime();
    wereReady = false;
    // Whatever was asked before it says nothing of the time after it.
    isAnswerOld = answer != null;
    received++;
    if (received > settings.prefetch) {
      stalls.set(0);
    }
  }

  /** Nothing came. Returns whether the queue has stalled. */
  boolean isStalled() {
    long now = System.nanoTime();
    long quiet = Math.min(LONGEST, SHORTEST << Math.min(stalls.get(), 10));
    if (now - quietSince < quiet || now - askAgainAt < 0) {
      return false;
    }
    CompletableFuture<Command> asked = answer;
    try {
      if (asked == null) {
        answer = ask();
        return false;
      }
      if (asked.isDone()) {
        answer = null;
        boolean old = isAnswerOld;
        isAnswerOld = false;
        return !old && isStalledBy(asked.join());
      }
      if (now - quietSince > settings.longestUnansweredNanos
          && now - askedAt > settings.longestUnansweredNanos) {
        stalls.incrementAndGet();
        return true;
      }
    } catch (IOException | RuntimeException e) {
      log.debug("Nobody says how many messages queue '{}' has", settings.queue, e);
      askLater();
    }
    return false;
  }

  /** By another channel: this one is closed. */
  private void askLater() {
    asking = null;
    answer = null;
    isAnswerOld = false;
    quietSince = System.nanoTime();
    askAgainAt = quietSince + ASK_AGAIN;
  }

  private CompletableFuture<Command> ask() throws IOException {
    Channel open = asking;
    if (open == null) {
      open = ReadyConnection.openChannel(connection);
      asking = open;
    }
    askedAt = System.nanoTime();
    return open.asyncCompletableRpc(
        new AMQP.Queue.Declare.Builder().queue(settings.queue).passive(true).build());
  }

  /**
   * Without a consumer the answer says nothing: there is one, and a quorum queue that does not know
   * its leader answers so.
   */
  private boolean isStalledBy(Command reply) {
    quietSince = System.nanoTime();
    if (!(reply.getMethod() instanceof AMQP.Queue.DeclareOk state)
        || state.getConsumerCount() == 0) {
      return false;
    }
    boolean areReady = state.getMessageCount() > 0;
    boolean stalled = areReady && wereReady;
    wereReady = areReady;
    if (stalled) {
      stalls.incrementAndGet();
    }
    return stalled;
  }
}
