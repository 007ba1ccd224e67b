/** Spring Integration's registry of locks, on RabbitMQ. */
@NullMarked
package io.amqplocks.spring.integration;

import org.jspecify.annotations.NullMarked;
