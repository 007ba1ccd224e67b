package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Looks for calls that waited for a lock that was free, or that were told at once that it was busy.
 *
 * <p>A slot counts as free only if nobody can have had it. What others may have had is counted from
 * the earliest to the latest moment that their clients' words allow. So a call that this finds was
 * wronged, and of most others nothing is known.
 */
public final class WaitCheck {

  /** A waiter that missed its notification looks after 1.5 s at most. The machine may be busy. */
  private static final long TOO_LONG = TimeUnit.SECONDS.toNanos(4);

  /** A client that is silent for longer was paused, and may be the first in line. */
  private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

  /** A release returns before the broker has carried it out. */
  private static final long ON_ITS_WAY = TimeUnit.SECONDS.toNanos(1);

  /**
   * A try that looks for a slot may be too late for each that it finds. That is rare, and so many
   * for one lock are no bad luck.
   */
  private static final int TOO_MANY = 3;

  private static final Set<What> OUTCOMES = EnumSet.of(What.ACQUIRED, What.BUSY, What.FAILED);

  /** A cycle of a command of a client. */
  private record Source(String client, long command, int cycle) {}

  /** A call: from its beginning to its outcome, which is null if there is none. */
  private record Ask(Source source, Command command, long from, long to, @Nullable What outcome) {

    int permits() {
      return Math.max(1, command.permits());
    }

    boolean waits() {
      return command.waitMillis() > 0;
    }
  }

  /** How many slots somebody may have had, and when. */
  private record Use(Source by, int permits, long from, long to) {}

  /** What may have to be made: a lock, or the counter of a slot; 0 if it is not known which. */
  private record Part(boolean fenced, int slot) {}

  private final LockRef lock;
  private final int slots;
  private final Map<Source, Claim> claims = new HashMap<>();
  private final Collection<Ask> asks;

  private WaitCheck(LockRef lock, int slots, History history, List<Claim> claims) {
    this.lock = lock;
    this.slots = slots;
    for (Claim claim : claims) {
      this.claims.put(new Source(claim.client(), claim.command(), claim.cycle()), claim);
    }
    asks = asks(history);
  }

  /**
   * All violations before the first fault of a round.
   *
   * @param lock one whose slots are not changed in the round
   * @param slots how many it has; 1 if it is a read-write lock
   * @param claims its leases
   */
  public static List<Violation> check(
      LockRef lock, int slots, History history, List<Claim> claims) {
    WaitCheck check = new WaitCheck(lock, slots, history, claims);
    List<Use> sure = check.asks.stream().flatMap(ask -> check.use(ask, false).stream()).toList();
    List<Use> possible = check.asks.stream().flatMap(ask -> check.use(ask, true).stream()).toList();
    long made = check.madeAt();
    long until = firstFault(history);
    List<Interval> pauses = pauses(history);
    List<Violation> found = new ArrayList<>();
    List<Violation> refused = new ArrayList<>();
    Set<List<Object>> answered = new HashSet<>();
    for (Ask ask : check.asks) {
      boolean isAnswer = ask.outcome() == What.ACQUIRED || ask.outcome() == What.BUSY;
      if (isAnswer && answered.add(List.of(ask.source().client(), ask.source().command()))) {
        // Its process may have had to connect first.
        continue;
      }
      if (ask.waits() && isAnswer) {
        Interval wait = new Interval(Math.max(made, ask.from()), Math.min(until, ask.to()));
        Interval free = check.longestFree(ask, wait, sure);
        if (isTooLong(free) && pauses.stream().noneMatch(pause -> overlap(pause, free))) {
          found.add(check.violation(ask, free, "waited for"));
        }
      } else if (!ask.waits() && ask.outcome() == What.BUSY && !lock.kind().hasTokens()) {
        Interval whole = new Interval(ask.from() - ON_ITS_WAY, ask.to());
        if (made < whole.from()
            && whole.to() < until
            && check.longestFree(ask, whole, possible).equals(whole)) {
          refused.add(check.violation(ask, whole, "was told that it is busy, of"));
        }
      }
    }
    if (refused.size() >= TOO_MANY) {
      found.addAll(refused);
    }
    return found;
  }

  private static boolean isTooLong(Interval time) {
    return time.to() - time.from() >= TOO_LONG;
  }

  private static boolean overlap(Interval one, Interval other) {
    return one.from() < other.to() && other.from() < one.to();
  }

  /** The times at which a client said nothing, though a thread of it was about to. */
  private static List<Interval> pauses(History history) {
    Map<String, Map<Long, Command>> told = new HashMap<>();
    Map<String, List<Event>> said = new HashMap<>();
    for (Entry entry : history.entries()) {
      String client = Objects.requireNonNullElse(entry.client(), "");
      Command command = entry.command();
      Event event = entry.event();
      if (command != null) {
        told.computeIfAbsent(client, key -> new HashMap<>()).put(command.id(), command);
      } else if (event != null) {
        said.computeIfAbsent(client, key -> new ArrayList<>()).add(event);
      }
    }
    List<Interval> pauses = new ArrayList<>();
    said.forEach((client, events) -> pauses(told.getOrDefault(client, Map.of()), events, pauses));
    return pauses;
  }

  private static void pauses(Map<Long, Command> told, List<Event> events, List<Interval> found) {
    events.sort(Comparator.comparingLong(Event::at));
    Map<Long, Event> last = new HashMap<>();
    long before = Long.MAX_VALUE;
    for (Event event : events) {
      if (before < Long.MAX_VALUE
          && event.at() - before > PAUSE
          && last.values().stream().anyMatch(each -> isAboutToSpeak(each, told.get(each.id())))) {
        found.add(new Interval(before, event.at()));
      }
      last.put(event.id(), event);
      before = event.at();
    }
  }

  /** A holder tells of its lease all the time. Only a call that waits is silent for long. */
  private static boolean isAboutToSpeak(Event last, @Nullable Command command) {
    boolean waits = last.what() == What.ASKS && command != null && command.waitMillis() > 0;
    return command != null
        && command.action() == Command.Action.WORK
        && !waits
        && !last.what().isEnd();
  }

  /**
   * When the lock was acquired for the first time, and each slot with a fencing token, as far as
   * anybody asks for either. Whoever is first may have to make a counter or a whole semaphore, and
   * others of its process may stand behind it.
   */
  private long madeAt() {
    Map<Part, Long> first = new HashMap<>();
    for (Ask ask : asks) {
      boolean fenced = ask.command().fenced();
      Claim claim = claims.get(ask.source());
      long at = claim == null ? Long.MAX_VALUE : claim.acquired();
      first.merge(new Part(fenced, 0), at, Math::min);
      if (fenced && claim != null) {
        first.merge(new Part(true, claim.slot()), at, Math::min);
      }
    }
    return first.values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  private static long firstFault(History history) {
    return history.entries().stream()
        .flatMap(entry -> Stream.ofNullable(entry.fault()))
        .mapToLong(FaultSpan::from)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private Collection<Ask> asks(History history) {
    Map<List<Object>, Command> commands = new HashMap<>();
    Map<Source, Ask> result = new LinkedHashMap<>();
    for (Entry entry : history.entries()) {
      String client = entry.client();
      Command told = entry.command();
      Event event = entry.event();
      if (client != null && told != null && lock.equals(told.lock())) {
        commands.put(List.of(client, told.id()), told);
      }
      if (client != null && event != null) {
        ask(result, new Source(client, event.id(), event.cycle()), commands, event);
      }
    }
    return result.values();
  }

  private static void ask(
      Map<Source, Ask> asks, Source source, Map<List<Object>, Command> commands, Event event) {
    Command command = commands.get(List.of(source.client(), source.command()));
    if (command != null && event.what() == What.ASKS) {
      asks.put(source, new Ask(source, command, event.at(), Long.MAX_VALUE, null));
    } else if (OUTCOMES.contains(event.what())) {
      asks.computeIfPresent(
          source,
          (same, ask) -> new Ask(source, ask.command(), ask.from(), event.at(), event.what()));
    }
  }

  /**
   * What that call may have had.
   *
   * @param possible whether a slot counts that it had for a moment only, if it had one at all. A
   *     call for several collects them, so what it collects counts in any case
   */
  private List<Use> use(Ask ask, boolean possible) {
    boolean collects = ask.permits() > 1;
    long from = ask.from();
    long to = ask.to();
    if (ask.outcome() == What.BUSY) {
      return possible || collects
          ? List.of(new Use(ask.source(), ask.permits(), from, to))
          : List.of();
    }
    Claim claim = claims.get(ask.source());
    if (claim != null) {
      from = possible || collects ? from : claim.acquired();
      to = claim.end() == Claim.End.RELEASED ? claim.ended() : Long.MAX_VALUE;
    } else {
      to = Long.MAX_VALUE;
    }
    return List.of(new Use(ask.source(), ask.permits(), from, to));
  }

  /** The longest time in that one in which the call could have been given what it wanted. */
  private Interval longestFree(Ask ask, Interval in, List<Use> uses) {
    if (in.from() >= in.to() || (ask.waits() && !isTooLong(in))) {
      return in;
    }
    TreeMap<Long, Integer> changes = new TreeMap<>();
    changes.put(in.from(), 0);
    changes.put(in.to(), 0);
    for (Use use : uses) {
      if (!use.by().equals(ask.source()) && use.to() > in.from() && use.from() < in.to()) {
        changes.merge(Math.max(use.from(), in.from()), use.permits(), Integer::sum);
        changes.merge(Math.min(use.to(), in.to()), -use.permits(), Integer::sum);
      }
    }
    Interval longest = new Interval(in.from(), in.from());
    int used = 0;
    long since = in.from();
    for (Map.Entry<Long, Integer> change : changes.entrySet()) {
      if (used + ask.permits() > slots) {
        since = change.getKey();
      } else if (change.getKey() - since > longest.to() - longest.from()) {
        longest = new Interval(since, change.getKey());
      }
      used += change.getValue();
    }
    return longest;
  }

  private Violation violation(Ask ask, Interval free, String what) {
    return new Violation(
        Promise.LIVENESS,
        lock,
        free.to(),
        List.of(),
        "%s #%d.%d %s %s, and for %.1f s at least %d of its %d slots were free"
            .formatted(
                ask.source().client(),
                ask.source().command(),
                ask.source().cycle(),
                what,
                lock,
                (free.to() - free.from()) / 1e9,
                ask.permits(),
                slots));
  }
}
