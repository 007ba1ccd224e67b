package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Looks for a lease without the fencing token that its client asked for. Looks also for a lease
 * whose fencing token is not above that of another one that was acquired before this one was asked
 * for. Tokens of different slots are not compared, nor those of two readers of a read-write lock:
 * these may use their tokens in any order. But no token is given twice.
 */
public final class FencingOrderCheck {

  private FencingOrderCheck() {}

  /**
   * All violations.
   *
   * @param mayBeStale whether a client may have begun that lease in good faith after it had lost
   *     the lock: such a lease has a token that was superseded, as it should
   */
  public static List<Violation> check(
      LockRef lock, List<Claim> claims, Predicate<Claim> mayBeStale) {
    List<Violation> found = new ArrayList<>();
    claims.stream()
        .filter(claim -> claim.fenced() && claim.token() == 0)
        .forEach(claim -> found.add(withoutToken(lock, claim)));
    claims.stream()
        .filter(claim -> claim.token() > 0)
        .collect(Collectors.groupingBy(Claim::slot))
        .values()
        .forEach(slot -> check(lock, slot, mayBeStale, found));
    return found;
  }

  private static Violation withoutToken(LockRef lock, Claim claim) {
    return new Violation(
        Promise.FENCING_ORDER,
        lock,
        claim.acquired(),
        List.of(claim),
        "%s asked for a fencing token of %s, and its lease has none".formatted(claim, lock));
  }

  private static void check(
      LockRef lock, List<Claim> slot, Predicate<Claim> mayBeStale, List<Violation> found) {
    List<Claim> byAcquired =
        slot.stream().sorted(Comparator.comparingLong(Claim::acquired)).toList();
    List<Claim> byAsked = slot.stream().sorted(Comparator.comparingLong(Claim::asked)).toList();
    @Nullable Claim highest = null;
    @Nullable Claim highestWriter = null;
    int next = 0;
    for (Claim later : byAsked) {
      while (byAcquired.get(next).acquired() < later.asked()) {
        Claim earlier = byAcquired.get(next++);
        highest = higher(highest, earlier);
        highestWriter = earlier.reads() ? highestWriter : higher(highestWriter, earlier);
      }
      Claim below = later.reads() ? highestWriter : highest;
      if (below != null && later.token() <= below.token() && !mayBeStale.test(later)) {
        found.add(
            new Violation(
                Promise.FENCING_ORDER,
                lock,
                later.acquired(),
                List.of(below, later),
                "%s had token %d of %s, and %s after it had %d"
                    .formatted(below, below.token(), lock, later, later.token())));
      }
    }
    slot.stream().collect(Collectors.groupingBy(Claim::token)).values().stream()
        .filter(same -> same.size() > 1)
        .forEach(
            same ->
                found.add(
                    new Violation(
                        Promise.FENCING_ORDER,
                        lock,
                        same.get(1).acquired(),
                        List.copyOf(same),
                        "Several leases of %s have token %d: %s"
                            .formatted(lock, same.get(0).token(), same))));
  }

  private static Claim higher(@Nullable Claim one, Claim other) {
    return one == null || other.token() > one.token() ? other : one;
  }
}
