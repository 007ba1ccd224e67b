package io.amqplocks.lock;

import java.time.Duration;
import java.util.Optional;

/**
 * A lease of this process at one moment, for those who look on. Whoever has the {@link Lease} itself asks
 * that.
 *
 * @param lock the lock
 * @param slot the slot held, as {@link Lease#slot()}
 * @param state {@link LeaseState#HELD} or {@link LeaseState#UNCERTAIN}
 * @param age how long ago it was acquired
 * @param unconfirmed how long ago the broker was asked that last confirmed it
 * @param token its fencing token, if it has one
 * @param queue what stands for it at the broker
 */
public record LocalLease(
    LockId lock,
    int slot,
    LeaseState state,
    Duration age,
    Duration unconfirmed,
    Optional<FencingToken> token,
    String queue) {}
