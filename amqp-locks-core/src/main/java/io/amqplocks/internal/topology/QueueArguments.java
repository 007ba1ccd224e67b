package io.amqplocks.internal.topology;

import com.rabbitmq.client.AMQP.Queue.Declare;
import java.util.Map;

/**
 * The queues of a lock as they are declared. None ever keeps a message: probes published to them are
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

  /** Asks for a queue without making it. */
  public static Declare passive(String queue) {
    return new Declare.Builder().queue(queue).passive().build();
  }
}
