/**
 * Everything that a Spring application imports: {@link io.amqplocks.spring.SemaphoreGuarded},
 * {@link io.amqplocks.spring.MutexGuarded}, {@link io.amqplocks.spring.ReadGuarded} and {@link
 * io.amqplocks.spring.WriteGuarded}, {@link io.amqplocks.spring.LockTemplate} and injectable
 * {@link io.amqplocks.spring.LockHandle}s, the event of a lost lease, and what customizes the
 * locks.
 */
@NullMarked
package io.amqplocks.spring;

import org.jspecify.annotations.NullMarked;
