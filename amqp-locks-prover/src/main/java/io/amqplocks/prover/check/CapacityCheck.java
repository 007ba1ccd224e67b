package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Looks for a moment at which more slots were certainly held than there were. For a mutex: at which
 * two held it.
 */
public final class CapacityCheck {

  /**
   * A moment to look at.
   *
   * @param permits how many more are held from then on; negative if fewer
   * @param claim by whom; null if only the number of slots changes
   */
  private record Edge(long at, int permits, @Nullable Claim claim) {}

  /**
   * A time at which too many held. Each lease ends, and so does the time.
   *
   * @param since when each of those who held at the beginning began to hold
   * @param to its end, once it is over
   */
  private record TooMany(long from, int held, int slots, Map<Claim, Long> since, long to) {

    TooMany until(long end) {
      return new TooMany(from, held, slots, since, end);
    }

    /**
     * Whether it goes on at that moment, after a short break: one of those who held at the
     * beginning has held ever since, and others took turns.
     */
    boolean goesOn(long at, Map<Claim, Long> holders, Tolerance tolerated) {
      return at - to <= tolerated.length().toNanos()
          && since.entrySet().stream()
              .anyMatch(each -> each.getValue().equals(holders.get(each.getKey())));
    }

    Violation violation(LockRef lock) {
      return new Violation(
          Promise.CAPACITY,
          lock,
          from,
          List.copyOf(since.keySet()),
          "%d slots of %s were held, of %d, for %.1f ms: by %s"
              .formatted(held, lock, slots, (to - from) / 1e6, since.keySet()));
    }
  }

  private CapacityCheck() {}

  /**
   * All violations, each with those who held when it began. A time that lasts is reported once, and
   * one of several holders who take turns beside the same one counts as one time.
   *
   * @param tolerated how long too many may hold at a time
   */
  public static List<Violation> check(
      LockRef lock, List<Claim> claims, Capacity capacity, Tolerance tolerated) {
    return times(edges(claims, capacity), capacity, tolerated).stream()
        .filter(time -> !tolerated.covers(time.from(), time.to()))
        .map(time -> time.violation(lock))
        .toList();
  }

  private static List<Edge> edges(List<Claim> claims, Capacity capacity) {
    List<Edge> edges = new ArrayList<>();
    for (Claim claim : claims) {
      for (Interval held : claim.certain()) {
        edges.add(new Edge(held.from(), claim.permits(), claim));
        edges.add(new Edge(held.to(), -claim.permits(), claim));
      }
    }
    // Who held before slots were taken away may hold for too long.
    capacity.turns().forEach(turn -> edges.add(new Edge(turn, 0, null)));
    // At the same moment, who ends is first: moments are too coarse to say more.
    edges.sort(Comparator.comparingLong(Edge::at).thenComparingInt(Edge::permits));
    return edges;
  }

  /** The times at which too many held, in order. */
  private static List<TooMany> times(List<Edge> edges, Capacity capacity, Tolerance tolerated) {
    Deque<TooMany> times = new ArrayDeque<>();
    Map<Claim, Long> holders = new LinkedHashMap<>();
    int held = 0;
    boolean tooMany = false;
    for (Edge edge : edges) {
      held += edge.permits();
      Claim claim = edge.claim();
      if (claim != null && edge.permits() > 0) {
        holders.put(claim, edge.at());
      } else if (claim != null) {
        holders.remove(claim);
      }
      int slots = capacity.at(edge.at());
      if (held > slots && !tooMany) {
        TooMany last = times.peekLast();
        if (last == null || !last.goesOn(edge.at(), holders, tolerated)) {
          Map<Claim, Long> since = new LinkedHashMap<>(holders);
          times.add(new TooMany(edge.at(), held, slots, since, edge.at()));
        }
      } else if (held <= slots && tooMany) {
        times.add(times.removeLast().until(edge.at()));
      }
      tooMany = held > slots;
    }
    return List.copyOf(times);
  }
}
