package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Looks for a moment at which a read-write lock was certainly held by a writer and by somebody
 * else, whichever side the other one has. Readers alone are as many as they like.
 */
public final class ExclusionCheck {

  /** A moment at which a lease begins to be certain, or ends to be. */
  private record Edge(long at, boolean begins, Claim claim) {}

  private ExclusionCheck() {}

  /** All violations, each with those who held when it began. A time that lasts is reported once. */
  public static List<Violation> check(LockRef lock, List<Claim> claims) {
    List<Violation> found = new ArrayList<>();
    Set<Claim> holders = new LinkedHashSet<>();
    List<Claim> together = List.of();
    long since = 0;
    for (Edge edge : edges(claims)) {
      if (edge.begins()) {
        holders.add(edge.claim());
      } else {
        holders.remove(edge.claim());
      }
      boolean excluded = holders.size() > 1 && !holders.stream().allMatch(Claim::reads);
      if (excluded && together.isEmpty()) {
        together = List.copyOf(holders);
        since = edge.at();
      } else if (!excluded && !together.isEmpty()) {
        found.add(violation(lock, together, since, edge.at()));
        together = List.of();
      }
    }
    return found;
  }

  private static List<Edge> edges(List<Claim> claims) {
    List<Edge> edges = new ArrayList<>();
    for (Claim claim : claims) {
      for (Interval held : claim.certain()) {
        edges.add(new Edge(held.from(), true, claim));
        edges.add(new Edge(held.to(), false, claim));
      }
    }
    // At the same moment, who ends is first: moments are too coarse to say more.
    edges.sort(Comparator.comparingLong(Edge::at).thenComparing(Edge::begins));
    return edges;
  }

  private static Violation violation(LockRef lock, List<Claim> together, long from, long to) {
    String who =
        together.stream()
            .map(claim -> (claim.reads() ? "reader " : "writer ") + claim)
            .collect(Collectors.joining(", "));
    return new Violation(
        Promise.EXCLUSION,
        lock,
        from,
        together,
        "%s was held by a writer who was not alone, for %.1f ms: by %s"
            .formatted(lock, (to - from) / 1e6, who));
  }
}
