/**
 * Distributed locks on RabbitMQ. Start at {@link io.amqplocks.AmqpLocks}. Its methods use types of
 * {@code io.amqplocks.lock} and {@code io.amqplocks.admin}. Nothing else is meant for users.
 */
@NullMarked
package io.amqplocks;

import org.jspecify.annotations.NullMarked;
