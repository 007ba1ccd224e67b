/** ShedLock on RabbitMQ: {@link io.amqplocks.shedlock.AmqpLockProvider}. */
@NullMarked
package io.amqplocks.shedlock;

import org.jspecify.annotations.NullMarked;
