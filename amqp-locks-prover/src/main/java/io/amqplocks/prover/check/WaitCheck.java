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
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
  private static final long TOO_LONG = TimeUnit.SECONDS.toNanos(3);

  /**
   * A release returns before the broker has carried it out. Two tokens may be on their way back at
   * once, and a third one be in the hands of a holder that verifies its own. So tries of token
   * semaphores are not looked at.
   */
  private static final long ON_ITS_WAY = TimeUnit.SECONDS.toNanos(1);

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
    List<Violation> found = new ArrayList<>();
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
        if (free.to() - free.from() >= TOO_LONG) {
          found.add(check.violation(ask, free, "waited for"));
        }
      } else if (!ask.waits() && ask.outcome() == What.BUSY && !lock.kind().hasTokens()) {
        Interval whole = new Interval(ask.from() - ON_ITS_WAY, ask.to());
        if (made < whole.from()
            && whole.to() < until
            && check.longestFree(ask, whole, possible).equals(whole)) {
          found.add(check.violation(ask, whole, "was told that it is busy, of"));
        }
      }
    }
    return found;
  }

  /**
   * When the lock was acquired for the first time, with fencing tokens and without, as far as
   * anybody asks for either. Whoever is first may have to make a counter or a whole semaphore, and
   * others of its process may stand behind it.
   */
  private long madeAt() {
    Map<Boolean, Long> first = new HashMap<>();
    for (Ask ask : asks) {
      long at = ask.outcome() == What.ACQUIRED ? ask.to() : Long.MAX_VALUE;
      first.merge(ask.command().fenced(), at, Math::min);
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
    if (in.from() >= in.to()) {
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
