package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.MessageReading;

/** What the administration of counters needs of the broker, while it has the turn. */
public interface CounterBroker {

  /** The major version of the broker. */
  int brokerMajor();

  /** Whether the queue exists. A queue whose node is down is no certain "no", and throws. */
  boolean exists(Call call, String queue);

  /** Declares a queue whose existence says that a counter is in use. */
  void declareEpoch(Call call, String queue);

  /** Deletes a queue; does nothing if it does not exist. */
  void delete(Call call, String queue);

  /** Declares a counter and publishes its message. The queue must never have existed before. */
  void make(Call call, String queue, String content);

  /** Reads a counter, which increments it. */
  MessageReading read(Call call, String queue);
}
