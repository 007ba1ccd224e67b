package io.amqplocks.consumer;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Envelope;
import io.amqplocks.leader.Leadership;
import io.amqplocks.lock.FencingToken;
import java.util.Optional;

/** A message that a {@link SoleConsumer} received. */
public final class Delivery {

  private final Leadership term;
  private final com.rabbitmq.client.Delivery message;
  private volatile boolean rejected;
  private volatile int failures;

  Delivery(Leadership term, com.rabbitmq.client.Delivery message) {
    this.term = term;
    this.message = message;
  }

  /** The message's body. */
  public byte[] body() {
    return message.getBody();
  }

  /** The message's properties. */
  public AMQP.BasicProperties properties() {
    return message.getProperties();
  }

  /** Where the message was published, and whether it may have been delivered before. */
  public Envelope envelope() {
    return message.getEnvelope();
  }

  /**
   * The token by which a resource can refuse writes of consumers that were active earlier. Empty
   * unless the consumer's lock has fencing tokens.
   */
  public Optional<FencingToken> fencingToken() {
    return term.fencingToken();
  }

  /** Whether this process is certainly the active one still. Never blocks, and asks nobody. */
  public boolean isActive() {
    return term.isCurrent();
  }

  /**
   * Has the message rejected when the handler returns: the broker drops it, or passes it to the
   * queue's dead-letter exchange.
   */
  public void reject() {
    rejected = true;
  }

  /**
   * How often the handler has failed with this message since it was delivered. It may be delivered
   * anew after a takeover, or when the connection was lost, and is counted from zero then.
   */
  public int failures() {
    return failures;
  }

  /**
   * Counts a failure, after which a rejection does not count. Only the worker's thread calls it.
   */
  @SuppressWarnings("NonAtomicVolatileUpdate")
  int fail() {
    rejected = false;
    failures++;
    return failures;
  }

  boolean isRejected() {
    return rejected;
  }

  long tag() {
    return message.getEnvelope().getDeliveryTag();
  }
}
