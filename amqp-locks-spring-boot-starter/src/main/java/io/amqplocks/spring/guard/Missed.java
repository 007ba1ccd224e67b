package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockException;

/**
 * A lock that was busy for so long that the call does something else.
 *
 * @param wanted the lock
 * @param busy that it was
 */
record Missed(Wanted wanted, LockException.AcquireTimeout busy) {}
