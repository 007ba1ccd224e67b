/**
 * Locks as {@link java.util.concurrent.locks.Lock}: {@link io.amqplocks.juc.ReentrantLocks} makes
 * them.
 */
@NullMarked
package io.amqplocks.juc;

import org.jspecify.annotations.NullMarked;
