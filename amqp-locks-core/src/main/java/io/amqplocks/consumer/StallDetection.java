package io.amqplocks.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
 * If it has some, and again after as long, without a message in between, it has stalled. A
 * connection that stalled is closed, and a quorum queue counts that as a failed delivery of what it
 * had sent. So the time doubles with each stall, up to two minutes, until a connection is sent more
 * than it may keep.
 *
 * <p>Concurrency: for the thread of the present worker. One of an earlier term that still ends may
 * write here too, which can only put off that a stall is found. It never waits for the queue, which
 * may be busy. The client's threads complete the future.
 */
final class StallDetection {

  private static final Logger log = LoggerFactory.getLogger(StallDetection.class);

  private static final long SHORTEST = TimeUnit.SECONDS.toNanos(5);
  private static final long LONGEST = TimeUnit.MINUTES.toNanos(2);

  /** A queue that may not be asked is asked again after that. */
  private static final long UNANSWERED = TimeUnit.MINUTES.toNanos(1);

  /** After so many connections in a row that were sent nothing, another process is to try. */
  private static final int MOST_STALLS = 2;

  private final SoleConsumerBuilder settings;
  private int stalls;
  private boolean inVain;

  // The rest is of the present connection.
  private @Nullable ReadyConnection connection;
  private int received;
  private long quietSince;
  private boolean wereReady;
  private @Nullable Channel asking;
  private @Nullable CompletableFuture<Command> answer;
  private long askAgainAt;

  StallDetection(SoleConsumerBuilder settings) {
    this.settings = settings;
  }

  /** The queue is consumed by that connection from now on. */
  void begin(ReadyConnection open) {
    connection = open;
    received = 0;
    quietSince = System.nanoTime();
    askAgainAt = quietSince;
    wereReady = false;
    asking = null;
    answer = null;
  }

  /** A message came. */
  void received() {
    quietSince = System.nanoTime();
    wereReady = false;
    received++;
    if (received > settings.prefetch) {
      stalls = 0;
    }
  }

  /** Whether the last connection stalled, and so many before it that another process is to try. */
  boolean pollInVain() {
    boolean was = inVain;
    inVain = false;
    return was;
  }

  /** Nothing came. Returns whether the queue has stalled. */
  boolean isStalled() {
    long now = System.nanoTime();
    long quiet = Math.min(LONGEST, SHORTEST << Math.min(stalls, 10));
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
        return isStalledBy(asked.join());
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
    quietSince = System.nanoTime();
    askAgainAt = quietSince + UNANSWERED;
  }

  private CompletableFuture<Command> ask() throws IOException {
    Channel open = asking;
    if (open == null) {
      ReadyConnection present = connection;
      if (present == null) {
        throw new IOException("there is no connection");
      }
      open = ReadyConnection.openChannel(present.connection());
      asking = open;
    }
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
      stalls++;
      inVain = stalls >= MOST_STALLS;
    }
    return stalled;
  }
}
