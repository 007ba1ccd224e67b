package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.List;

/**
 * Looks for two leases of a slot semaphore that name the same slot at the same time, as an
 * application would notice that takes its port from the slot. Of several permits only the first
 * slot is known.
 *
 * <p>A lease of a token semaphore may move to another slot when it is verified. If it has a fencing
 * token, the order of these tells more.
 */
public final class SlotCheck {

  private SlotCheck() {}

  /** All violations: one for each two leases. */
  public static List<Violation> check(LockRef lock, List<Claim> claims) {
    if (lock.kind() != Kind.SLOT_SEMAPHORE) {
      return List.of();
    }
    List<Claim> named = claims.stream().filter(claim -> !claim.certain().isEmpty()).toList();
    List<Violation> found = new ArrayList<>();
    for (int i = 0; i < named.size(); i++) {
      Claim one = named.get(i);
      for (Claim other : named.subList(i + 1, named.size())) {
        long both = one.slot() == other.slot() ? firstOfBoth(one, other) : Long.MAX_VALUE;
        if (both < Long.MAX_VALUE) {
          found.add(
              new Violation(
                  Promise.CAPACITY,
                  lock,
                  both,
                  List.of(one, other),
                  "%s and %s both had slot %d of %s".formatted(one, other, one.slot(), lock)));
        }
      }
    }
    return found;
  }

  /** The first moment at which both were certain; {@code Long.MAX_VALUE} if there is none. */
  private static long firstOfBoth(Claim one, Claim other) {
    for (Interval mine : one.certain()) {
      for (Interval theirs : other.certain()) {
        long from = Math.max(mine.from(), theirs.from());
        if (from < Math.min(mine.to(), theirs.to())) {
          return from;
        }
      }
    }
    return Long.MAX_VALUE;
  }
}
