/**
 * The token semaphore, in which a slot is a message that nobody acknowledges. The idea comes from
 * the RabbitMQ blog's semaphore.
 */
@NullMarked
package io.amqplocks.internal.tokens;

import org.jspecify.annotations.NullMarked;
