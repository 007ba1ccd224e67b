package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Stored;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Looks at what guarded rows took. The token of a row never falls, and what its writers have
 * counted is what the database has: else a write was lost. Nothing excuses either of them, also
 * where the broker lets two hold a lock. A row that is written without tokens is not guarded: it is
 * only looked at if all leases of the lock were released in order. Looks also for a write that was
 * refused although its client was certain of its lease afterwards.
 */
public final class GuardedRowCheck {

  private GuardedRowCheck() {}

  /**
   * All violations of what the rows of a lock took.
   *
   * @param claims the leases of the lock
   */
  public static List<Violation> check(LockRef lock, List<Stored> stored, List<Claim> claims) {
    List<Violation> found = new ArrayList<>();
    stored.stream()
        .collect(Collectors.groupingBy(Stored::slot))
        .values()
        .forEach(row -> check(lock, row, claims, found));
    return found;
  }

  /** The first of each sort: once a write was lost, all that follow lack it. */
  private static void check(
      LockRef lock, List<Stored> row, List<Claim> claims, List<Violation> found) {
    for (int i = 1; i < row.size(); i++) {
      Stored before = row.get(i - 1);
      Stored after = row.get(i);
      if (after.token() < before.token()) {
        found.add(
            violation(
                lock,
                after,
                having(claims, before, after),
                "The row of %s took a write with token %d after one with %d"
                    .formatted(lock, after.token(), before.token())));
        break;
      }
    }
    boolean isGuarded = row.stream().allMatch(each -> each.token() > 0);
    boolean isInOrder = claims.stream().allMatch(claim -> claim.end() == Claim.End.RELEASED);
    for (int i = 0; i < row.size() && (isGuarded || isInOrder); i++) {
      Stored after = row.get(i);
      if (after.total() != after.writes()) {
        found.add(
            violation(
                lock,
                after,
                having(claims, row.get(Math.max(0, i - 1)), after),
                "The row of %s took %d writes, and the last one, with token %d, makes it %d"
                    .formatted(lock, after.writes(), after.token(), after.total())));
        break;
      }
    }
  }

  private static List<Claim> having(List<Claim> claims, Stored before, Stored after) {
    return claims.stream()
        .filter(claim -> claim.token() > 0 && claim.slot() == after.slot())
        .filter(claim -> claim.token() == before.token() || claim.token() == after.token())
        .toList();
  }

  private static Violation violation(LockRef lock, Stored at, List<Claim> claims, String text) {
    return new Violation(Promise.GUARDED_ROW, lock, at.at(), claims, text);
  }

  /**
   * All writes that a row refused to a holder.
   *
   * @param claims the leases of the lock, without the times in which a client may be wrong
   */
  public static List<Violation> checkRefusals(LockRef lock, History history, List<Claim> claims) {
    List<Violation> found = new ArrayList<>();
    for (Entry entry : history.entries()) {
      Event event = entry.event();
      if (event != null && event.what() == What.REFUSED && event.token() > 0) {
        claims.stream()
            .filter(claim -> claim.client().equals(entry.client()))
            .filter(claim -> claim.command() == event.id() && claim.cycle() == event.cycle())
            .filter(isCertain(event.at()))
            .forEach(claim -> found.add(refusal(lock, event, claim)));
      }
    }
    return found;
  }

  private static Predicate<Claim> isCertain(long at) {
    return claim -> claim.certain().stream().anyMatch(time -> time.has(at));
  }

  private static Violation refusal(LockRef lock, Event event, Claim claim) {
    return new Violation(
        Promise.GUARDED_ROW,
        lock,
        event.at(),
        List.of(claim),
        "The row of %s refused a write of %s with token %d, which was certain to hold it after that"
            .formatted(lock, claim, event.token()));
  }
}
