package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * One lock that a method wants to hold.
 *
 * @param lock which
 * @param maxWait how long it waits for it
 */
record Guard(LockId lock, Duration maxWait) {}
