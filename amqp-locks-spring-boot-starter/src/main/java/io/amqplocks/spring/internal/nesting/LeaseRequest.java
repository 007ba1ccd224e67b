package io.amqplocks.spring.internal.nesting;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A call's request for a lease, either a new one or an outer call's.
 *
 * @param lock the lock: equal for equal locks of one {@code AmqpLocks}
 * @param permits how many slots
 * @param fenced whether the call needs a fencing token
 * @param holdAtLeast how long the lock must be held at least
 * @param holdAtMost how long a newly acquired lease is held at most; null without a limit. It does
 *     not apply to an outer call's lease
 */
public record LeaseRequest(
    LockIdentity lock,
    int permits,
    boolean fenced,
    Duration holdAtLeast,
    @Nullable Duration holdAtMost) {}
