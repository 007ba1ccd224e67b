package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Queue.Declare;
import io.amqplocks.admin.TokenQueueType;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The declarations of a lock's queues. Only counters, tokens and their records keep messages. On
 * the other queues, a published probe is confirmed and dropped. Their three arguments are explicit
 * because a virtual host's default queue type and policies would decide otherwise (trap 3).
 */
public final class QueueArguments {

  private static final Map<String, Object> KEEPS_NOTHING =
      Map.of("x-queue-type", "classic", "x-max-length", 0, "x-overflow", "drop-head");

  private static final long A_YEAR_MILLIS = Duration.ofDays(365).toMillis();

  private static final Map<String, Object> FOR_NOW =
      Map.of("x-queue-type", "classic", "x-message-ttl", 0, "x-expires", 10_000);

  private static final Map<String, Object> PERSISTENT_MUTEX =
      Map.of(
          "x-queue-type",
          "classic",
          "x-single-active-consumer",
          true,
          "x-max-length",
          1,
          "x-overflow",
          "reject-publish");

  private static final Map<String, Object> MUTEX = expiring(PERSISTENT_MUTEX);

  private static final Map<String, Object> READ_WRITE =
      Map.of(
          "x-queue-type",
          "classic",
          "x-max-length",
          0,
          "x-overflow",
          "drop-head",
          "x-expires",
          60_000);

  private QueueArguments() {}

  private static Map<String, Object> expiring(Map<String, Object> arguments) {
    Map<String, Object> more = new HashMap<>(arguments);
    more.put("x-expires", 60_000);
    return Map.copyOf(more);
  }

  /**
   * The queue of a mutex. One consumer at a time is sent messages, and holds. It is deleted when
   * nobody has held the mutex or waited for it for a minute. It takes no message while it has an
   * idle one. On 3.10 a message that arrives while an idle one waits for the next active consumer
   * would crash the queue's process, and with it the connections that ask it something (541). A
   * refused one does not.
   */
  public static Declare mutex(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(MUTEX).build();
  }

  /**
   * The queue of a persistent mutex, as that of a mutex. It stays until an administrator deletes
   * it.
   */
  public static Declare persistentMutex(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(PERSISTENT_MUTEX).build();
  }

  /**
   * A queue that its connection owns, and that is deleted with it: an exclusive-queue mutex, or the
   * holder of a slot.
   */
  public static Declare exclusive(String queue) {
    return new Declare.Builder().queue(queue).exclusive().arguments(KEEPS_NOTHING).build();
  }

  /** A durable queue that is visible to all connections: a slot. */
  public static Declare slot(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(KEEPS_NOTHING).build();
  }

  /**
   * The counter of a fence: a quorum queue whose one message is returned forever. RabbitMQ from 4.0
   * on drops the message at the 21st return unless the limit is -1. Up to 3.13 there is no limit by
   * default, and -1 drops the message at the first return (trap 8).
   */
  public static Declare counter(String queue, int brokerMajor) {
    Map<String, Object> arguments =
        brokerMajor < 4
            ? Map.of("x-queue-type", "quorum")
            : Map.of("x-queue-type", "quorum", "x-delivery-limit", -1);
    return new Declare.Builder().queue(queue).durable().arguments(arguments).build();
  }

  /**
   * The queue of a token semaphore. Its messages are held for as long as their holders work, and an
   * ack timeout would cost holders their tokens (trap 9). So the timeout is a year where a queue
   * can set its own. RabbitMQ 3.10 and 3.11 have only the timeout of the node. On 4.3 classic
   * queues have none, and refuse the argument.
   */
  public static Declare tokens(
      String queue, TokenQueueType type, int brokerMajor, int brokerMinor) {
    boolean quorum = type == TokenQueueType.QUORUM;
    Map<String, Object> arguments = new HashMap<>();
    arguments.put("x-queue-type", quorum ? "quorum" : "classic");
    if (quorum && brokerMajor >= 4) {
      arguments.put("x-delivery-limit", -1);
    }
    boolean timeoutKnown = brokerMajor > 3 || (brokerMajor == 3 && brokerMinor >= 12);
    boolean classicRefusesIt = brokerMajor > 4 || (brokerMajor == 4 && brokerMinor >= 3);
    if (timeoutKnown && (quorum || !classicRefusesIt)) {
      arguments.put("x-consumer-timeout", A_YEAR_MILLIS);
    }
    return new Declare.Builder().queue(queue).durable().arguments(arguments).build();
  }

  /**
   * The queue of a token semaphore, as all clients of the blog post's plain protocol declare it.
   */
  public static Declare plainTokens(String queue) {
    return new Declare.Builder().queue(queue).durable().build();
  }

  /**
   * A wake queue, by which waiters are notified. No message stays in it. It is durable only because
   * RabbitMQ 4.3 refuses shared queues that are not, where its operator denies them (trap 13). It
   * is deleted when nobody has waited for ten seconds.
   */
  public static Declare wake(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(FOR_NOW).build();
  }

  /**
   * The queue of a read-write lock. A reader is a consumer of it, and a writer an exclusive
   * consumer. It is deleted when nobody has held the lock or looked at it for a minute. It must be
   * a classic queue, for only these refuse a consumer beside an exclusive one (trap 16).
   */
  public static Declare readWrite(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(READ_WRITE).build();
  }

  /** A passive declare, which looks for a queue without creating it. */
  public static Declare passive(String queue) {
    return new Declare.Builder().queue(queue).passive().build();
  }
}
