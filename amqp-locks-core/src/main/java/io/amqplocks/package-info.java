/**
 * Distributed locks on RabbitMQ: start at {@link io.amqplocks.AmqpLocks}. The types that it deals in
 * are those of {@code io.amqplocks.lock}; nothing else is for users.
 */
@NullMarked
package io.amqplocks;

import org.jspecify.annotations.NullMarked;
