package io.amqplocks.spring.internal.guard;

import io.amqplocks.lock.LockException;

/**
 * A lock that was busy for so long that the call does something else.
 *
 * @param request the lock
 * @param timeout how the caller would hear of it
 */
record BusyLock(LockRequest request, LockException.AcquireTimeout timeout) {}
