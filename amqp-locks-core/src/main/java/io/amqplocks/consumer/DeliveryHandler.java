package io.amqplocks.consumer;

import io.amqplocks.leader.Revocation;

/** Handles the messages that a {@link SoleConsumer} receives. */
@FunctionalInterface
public interface DeliveryHandler {

  /**
   * Handles a message. Calls come one after the other, in the order of the queue, on a thread of the
   * consumer.
   *
   * <p>When this returns, the message is acknowledged, or rejected after {@link Delivery#reject()}.
   * When it throws, the message goes back to its place in the queue, with those behind it, and after
   * a pause it is delivered again. The pause grows to 10 seconds. So a message that always fails
   * holds up the queue, unless the handler rejects it or the queue has a delivery limit.
   *
   * <p>Be prepared for duplicates: what was handled is delivered again if the acknowledgement did not
   * reach the broker.
   */
  void handle(Delivery delivery) throws Exception;

  /**
   * This consumer is not active any more, and {@link #handle} has not returned yet. After a loss
   * another consumer may be active already, though not with this message. The handler may finish its
   * work within the {@linkplain SoleConsumerBuilder#grace grace period}; then the message is
   * acknowledged as usual. After that the message goes back to the queue. Called on another thread
   * than {@link #handle}.
   */
  default void interrupted(Delivery delivery, Revocation why) {}
}
