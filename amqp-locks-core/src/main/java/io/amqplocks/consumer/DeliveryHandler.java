package io.amqplocks.consumer;

import io.amqplocks.leader.Revocation;

/** Handles the messages that a {@link SoleConsumer} receives. */
@FunctionalInterface
public interface DeliveryHandler {

  /**
   * Handles a message. Calls come one after the other, in the order of the queue, on a thread of
   * the consumer.
   *
   * <p>When this returns, the message is acknowledged, or rejected after {@link Delivery#reject()}.
   * When it throws, it is called with the message again after a pause, which grows to 10 seconds.
   * Meanwhile the message stays with this consumer, so the order is kept, and a failure does not
   * count for the queue's delivery limit. A message that always fails holds up the queue until the
   * handler rejects it, for instance after some {@linkplain Delivery#failures() failures}. Reject
   * it before the broker's consumer timeout, 30 minutes by default: then the broker takes back all
   * messages that it has sent ahead, and up to 4.2 that return counts for a delivery limit, also of
   * messages that were never handled. Failures are counted anew after that.
   *
   * <p>Be prepared for duplicates: what was handled is delivered again if the acknowledgement did
   * not reach the broker.
   */
  void handle(Delivery delivery) throws Exception;

  /**
   * This consumer is not active any more, and {@link #handle} has not returned yet. After a loss
   * another consumer may be active already, though not with this message. The handler may finish
   * its work within the {@linkplain SoleConsumerBuilder#grace grace period}; then the message is
   * acknowledged as usual. After that the message goes back to the queue. Called on another thread
   * than {@link #handle}, which must not close the consumer. If the end comes just before {@link
   * #handle} would be called, this may be called alone.
   */
  default void interrupted(Delivery delivery, Revocation why) {}
}
