package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.LockException;

/**
 * A lock that a call did not get, and does something else instead.
 *
 * @param request the lock
 * @param failure how the caller would hear of it: that it was busy, or of an outage
 */
public record MissedLock(LockRequest request, LockException failure) {}
