package io.amqplocks.spring.internal.nesting;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a call wants of a lock.
 *
 * @param lock the lock: equal for equal locks of one {@code AmqpLocks}
 * @param permits how many slots
 * @param fenced whether it needs a fencing token
 * @param holdAtLeast how long it wants the lock to be held at least
 * @param holdAtMost how long a lease that it acquires is held at most; null without a limit. It does
 *     not count for a lease that it joins
 */
public record Wanted(
    Object lock,
    int permits,
    boolean fenced,
    Duration holdAtLeast,
    @Nullable Duration holdAtMost) {}
