package io.amqplocks.lock;

import java.time.Duration;
import java.util.Optional;

/**
 * A lease of this process at one moment, for monitoring. The owner of a {@link Lease} uses that
 * instead.
 *
 * @param lock the lock
 * @param slot the slot held, as {@link Lease#slot()}
 * @param permits how many slots it holds, as {@link Lease#permits()}
 * @param state {@link LeaseState#HELD} or {@link LeaseState#UNCERTAIN}
 * @param age the time since it was acquired
 * @param unconfirmed the time since the request was sent that the broker last confirmed it by
 * @param token its fencing token, if it has one
 * @param queue the queue that stands for it at the broker
 */
public record LeaseSnapshot(
    LockId lock,
    int slot,
    int permits,
    LeaseState state,
    Duration age,
    Duration unconfirmed,
    Optional<FencingToken> token,
    String queue) {}
