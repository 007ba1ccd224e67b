package io.amqplocks.prover.check;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.History;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How many slots a lock has at most, at each moment. While a change is under way, the larger number
 * counts. If it is not known whether a change had an effect, the larger number counts until a later
 * change is over. An administrator begins no change before the one before has ended.
 */
public final class Capacity {

  private record Change(int slots, long from, long to) {}

  private final int first;
  private final List<Change> changes = new ArrayList<>();

  private Capacity(int first) {
    this.first = first;
  }

  /** A number that never changes. */
  public static Capacity of(int slots) {
    return new Capacity(slots);
  }

  /**
   * The number of slots of a lock in a history.
   *
   * @param first how many it has at the beginning
   * @param grace how long after a change the holder of a slot that was removed may be certain
   */
  public static Capacity in(History history, LockRef lock, int first, Duration grace) {
    Capacity result = new Capacity(first);
    for (History.Told told : history.commands()) {
      Command command = told.command();
      if (command.action() == Command.Action.RESIZE && lock.equals(command.lock())) {
        Optional<Event> end = history.outcome(told);
        if (end.filter(event -> event.what() == What.UNSUPPORTED).isPresent()) {
          continue;
        }
        Optional<Event> outcome = end.filter(event -> event.what() == What.DONE);
        // The command is in the history before it is sent, and has no time of its own: untilNanos.
        result.changes.add(
            new Change(
                command.slots(),
                command.untilNanos(),
                outcome.map(event -> event.at() + grace.toNanos()).orElse(Long.MAX_VALUE)));
      }
    }
    return result;
  }

  /** When the number may become larger, or smaller, without anybody doing anything. */
  List<Long> turns() {
    return changes.stream()
        .flatMap(change -> Stream.of(change.from(), change.to()))
        .filter(turn -> turn != Long.MAX_VALUE)
        .toList();
  }

  /** The number at a moment. */
  public int at(long time) {
    int settled = first;
    int most = 0;
    for (Change change : changes) {
      if (change.to() <= time) {
        settled = change.slots();
        most = 0;
      } else if (change.from() <= time) {
        most = Math.max(most, change.slots());
      }
    }
    return Math.max(settled, most);
  }
}
