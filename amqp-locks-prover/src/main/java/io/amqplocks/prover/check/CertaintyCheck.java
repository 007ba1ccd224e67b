package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for leases that were HELD when the broker cannot have confirmed them for too long. No
 * second holder is needed to see that: the client library ends a silent connection soon after, so
 * that one is rarely there in time.
 */
public final class CertaintyCheck {

  private static final Set<What> ANSWERS = EnumSet.of(What.HELD, What.RELEASES);

  private final LockRef lock;
  private final List<Silence> silences;
  private final Map<List<Object>, Claim> claims = new HashMap<>();

  /** The last answer of each lease, if it was HELD. */
  private final Map<Claim, Event> last = new HashMap<>();

  private final Set<Claim> told = new HashSet<>();
  private final List<Violation> found = new ArrayList<>();

  private CertaintyCheck(LockRef lock, List<Claim> claims, List<Silence> silences) {
    this.lock = lock;
    this.silences = silences;
    claims.forEach(each -> this.claims.put(key(each.client(), each.command(), each.cycle()), each));
  }

  /**
   * A time in which a client cannot be certain of its leases.
   *
   * @param client the client; null if it is every client
   * @param acquiredBefore only leases that it had acquired before that are meant
   * @param time the time
   */
  public record Silence(@Nullable String client, long acquiredBefore, Interval time) {

    private boolean concerns(Claim claim) {
      return (client == null || client.equals(claim.client())) && claim.acquired() < acquiredBefore;
    }
  }

  /**
   * All violations, one for each lease.
   *
   * @param claims all leases of the lock
   * @param silences when clients cannot be certain
   */
  public static List<Violation> check(
      LockRef lock, History history, List<Claim> claims, List<Silence> silences) {
    CertaintyCheck check = new CertaintyCheck(lock, claims, silences);
    if (!silences.isEmpty()) {
      history.entries().forEach(check::look);
    }
    return check.found;
  }

  /**
   * A client tells when it was about to ask its lease, and the answer may come much later, if it is
   * stopped in between. What it does next shows that the answer was there.
   */
  private void look(Entry entry) {
    Event event = entry.event();
    if (entry.client() == null || event == null) {
      return;
    }
    Claim claim = claims.get(key(entry.client(), event.id(), event.cycle()));
    if (claim == null) {
      return;
    }
    Event held = last.remove(claim);
    if (held != null) {
      require(claim, held, event.at());
    }
    if (ANSWERS.contains(event.what())) {
      last.put(claim, event);
    }
  }

  private void require(Claim claim, Event held, long answered) {
    silences.stream()
        .filter(silence -> silence.concerns(claim))
        .map(Silence::time)
        .filter(time -> time.from() <= held.at() && answered <= time.to())
        .findFirst()
        .filter(time -> told.add(claim))
        .ifPresent(time -> found.add(violation(claim, held, time)));
  }

  private Violation violation(Claim claim, Event held, Interval time) {
    return new Violation(
        Promise.CERTAINTY,
        lock,
        held.at(),
        List.of(claim),
        "%s said HELD of %s %.3f s after the broker's last answer allowed it"
            .formatted(claim, lock, (held.at() - time.from()) / 1e9));
  }

  private static List<Object> key(String client, long command, int cycle) {
    return List.of(client, command, cycle);
  }
}
