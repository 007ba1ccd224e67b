package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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

  /** A time at which too many held, from its beginning. Each lease ends, and so does the time. */
  private record TooMany(long from, int held, int slots, List<Claim> holders) {
    Violation violation(LockRef lock, long to) {
      return new Violation(
          Promise.CAPACITY,
          lock,
          from,
          holders,
          "%d slots of %s were held, of %d, for %.1f ms: by %s"
              .formatted(held, lock, slots, (to - from) / 1e6, holders));
    }
  }

  private CapacityCheck() {}

  /**
   * All violations, each with those who held when it began. A time that lasts is reported once.
   *
   * @param tolerated how long too many may hold at a time
   */
  public static List<Violation> check(
      LockRef lock, List<Claim> claims, Capacity capacity, Duration tolerated) {
    List<Edge> edges = new ArrayList<>();
    for (Claim claim : claims) {
      for (Interval held : claim.certain()) {
        edges.add(new Edge(held.from(), claim.permits(), claim));
        edges.add(new Edge(held.to(), -claim.permits(), claim));
      }
    }
    // Who held before slots were taken away may hold for too long.
    capacity.ends().forEach(end -> edges.add(new Edge(end, 0, null)));
    // At the same moment, who ends is first: moments are too coarse to say more.
    edges.sort(Comparator.comparingLong(Edge::at).thenComparingInt(Edge::permits));
    List<Violation> found = new ArrayList<>();
    Set<Claim> holders = new LinkedHashSet<>();
    int held = 0;
    @Nullable TooMany tooMany = null;
    for (Edge edge : edges) {
      held += edge.permits();
      Claim claim = edge.claim();
      if (claim != null && edge.permits() > 0) {
        holders.add(claim);
      } else if (claim != null) {
        holders.remove(claim);
      }
      int slots = capacity.at(edge.at());
      if (held > slots && tooMany == null) {
        tooMany = new TooMany(edge.at(), held, slots, List.copyOf(holders));
      } else if (held <= slots && tooMany != null) {
        if (edge.at() - tooMany.from() > tolerated.toNanos()) {
          found.add(tooMany.violation(lock, edge.at()));
        }
        tooMany = null;
      }
    }
    return found;
  }
}
