package io.amqplocks.lock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A lease of this process at one moment, for monitoring. The owner of a {@link Lease} uses that
 * instead.
 *
 * @param lock the lock
 * @param slots the slots held, one for each permit; the first one is {@link Lease#slot()}
 * @param state {@link LeaseState#HELD} or {@link LeaseState#UNCERTAIN}
 * @param age the time since it was acquired
 * @param unconfirmed the time since the request was sent that the broker last confirmed it by
 * @param token its fencing token, if it has one
 * @param queue the queue that stands for it at the broker
 */
public record LeaseSnapshot(
    LockId lock,
    List<Integer> slots,
    LeaseState state,
    Duration age,
    Duration unconfirmed,
    Optional<FencingToken> token,
    String queue) {

  /** Copies the list. */
  public LeaseSnapshot {
    slots = List.copyOf(slots);
  }

  /** The slot held, as {@link Lease#slot()}. */
  public int slot() {
    return slots.get(0);
  }

  /** How many slots are held, as {@link Lease#permits()}. */
  public int permits() {
    return slots.size();
  }
}
