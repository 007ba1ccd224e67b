package io.amqplocks.internal.topology;

import com.rabbitmq.client.AMQP.Queue.Declare;
import io.amqplocks.lock.TokenQueueType;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The queues of a lock as they are declared. But for counters, tokens and their records, none ever
 * keeps a message: probes published to them are confirmed and dropped. All three arguments are explicit
 * because a virtual host's default queue type and policies would decide otherwise (trap 3).
 */
public final class QueueArguments {

  private static final Map<String, Object> KEEPS_NOTHING =
      Map.of("x-queue-type", "classic", "x-max-length", 0, "x-overflow", "drop-head");

  private static final long A_YEAR_MILLIS = Duration.ofDays(365).toMillis();

  private static final Map<String, Object> FOR_NOW =
      Map.of("x-queue-type", "classic", "x-message-ttl", 0, "x-expires", 10_000);

  private QueueArguments() {}

  /** A queue that its connection owns and that goes with it: a mutex, or a slot's holder. */
  public static Declare exclusive(String queue) {
    return new Declare.Builder().queue(queue).exclusive().arguments(KEEPS_NOTHING).build();
  }

  /** A slot, or a persistent mutex: durable, for all to see. */
  public static Declare slot(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(KEEPS_NOTHING).build();
  }

  /**
   * The counter of a fence, a quorum queue whose one message is returned for ever. RabbitMQ from 4.0
   * on needs to be told so, or it drops the message at the 21st return; up to 3.13 it has no limit
   * unless it is told one, and takes -1 for "at the first" (trap 8).
   */
  public static Declare counter(String queue, int brokerMajor) {
    Map<String, Object> arguments =
        brokerMajor < 4
            ? Map.of("x-queue-type", "quorum")
            : Map.of("x-queue-type", "quorum", "x-delivery-limit", -1);
    return new Declare.Builder().queue(queue).durable().arguments(arguments).build();
  }

  /**
   * The queue of a token semaphore. Its messages are held for as long as their holders work, so an ack
   * timeout would cost them their tokens (trap 9): where a queue may set its own, it is a year. RabbitMQ
   * 3.10 and 3.11 know none but the node's; on 4.3 classic queues have none, and refuse the argument.
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

  /** The queue of a token semaphore as all clients of the plain protocol of seed 000 declare it. */
  public static Declare plainTokens(String queue) {
    return new Declare.Builder().queue(queue).durable().build();
  }

  /**
   * A queue by which those are told who wait; nothing stays in it. Durable only because RabbitMQ 4.3
   * refuses other shared queues where its operator denies them (trap 13); it goes when nobody has waited
   * for ten seconds.
   */
  public static Declare wake(String queue) {
    return new Declare.Builder().queue(queue).durable().arguments(FOR_NOW).build();
  }

  /** Asks for a queue without making it. */
  public static Declare passive(String queue) {
    return new Declare.Builder().queue(queue).passive().build();
  }
}
