package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.History;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Looks for calls that did not get the lock for a reason that a lock must not give where nothing
 * has been done to anybody. A busy machine may make an outage, and an answer that comes too late.
 * It makes no conflict, no missing lock and no refusal. Fencing tokens may be unavailable while a
 * lock is made by its first users, so that is none. The words are those of the own client.
 */
public final class RefusalCheck {

  private static final Pattern REFUSAL =
      Pattern.compile(
          "[\\w.]+\\.LockException\\$"
              + "(Conflict|Invalid|NotFound|NotFenced|Refused|Unsupported|Closed)"
              + ":.*",
          Pattern.DOTALL);

  private RefusalCheck() {}

  /**
   * All violations of a round without faults.
   *
   * @param lock one whose slots are not changed in the round
   */
  public static List<Violation> check(LockRef lock, History history) {
    List<Violation> found = new ArrayList<>();
    for (History.Told told : history.commands()) {
      Command command = told.command();
      if (command.action() == Command.Action.WORK && lock.equals(command.lock())) {
        history.entries().stream()
            .filter(entry -> told.client().equals(entry.client()))
            .map(Entry::event)
            .filter(Objects::nonNull)
            .filter(event -> event.id() == command.id() && isRefusal(event))
            .map(event -> violation(lock, told.client(), event))
            .forEach(found::add);
      }
    }
    return found;
  }

  private static boolean isRefusal(Event event) {
    return event.what() == What.FAILED
        && event.detail() != null
        && REFUSAL.matcher(event.detail()).matches();
  }

  private static Violation violation(LockRef lock, String client, Event event) {
    return new Violation(
        Promise.LIVENESS,
        lock,
        event.at(),
        List.of(),
        "%s was refused %s, and nothing had happened: %s".formatted(client, lock, event.detail()));
  }
}
