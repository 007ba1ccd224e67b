package io.amqplocks.internal.topology;

import com.rabbitmq.client.AMQP.Queue.Declare;
import java.util.Map;

/**
 * The queues of a lock as they are declared. But for the counter of a fence, none ever keeps a message: probes published to them are
 * confirmed and dropped. All three arguments are explicit because a virtual host's default queue type
 * and policies would decide otherwise (trap 3).
 */
public final class QueueArguments {

  private static final Map<String, Object> KEEPS_NOTHING =
      Map.of("x-queue-type", "classic", "x-max-length", 0, "x-overflow", "drop-head");

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

  /** Asks for a queue without making it. */
  public static Declare passive(String queue) {
    return new Declare.Builder().queue(queue).passive().build();
  }
}
