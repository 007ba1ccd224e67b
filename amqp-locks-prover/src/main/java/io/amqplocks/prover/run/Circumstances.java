package io.amqplocks.prover.run;

import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is to be known of a violation where only the output is left, as of a build elsewhere: its
 * leases, and the faults before it that may have to do with them.
 */
final class Circumstances {

  /** A fault of longer ago has no effect any more: three times what is excused at most. */
  private static final Duration BEFORE = Duration.ofSeconds(12);

  private Circumstances() {}

  /** A line for each lease and fault. Times are seconds from the moment of the violation. */
  static List<String> of(History history, Violation violation) {
    long at = violation.at();
    List<String> lines = new ArrayList<>();
    for (Claim claim : violation.claims()) {
      lines.add(
          "%s: asked %s, acquired %s, certain %s, %s %s"
              .formatted(
                  claim,
                  seconds(claim.asked(), at),
                  seconds(claim.acquired(), at),
                  certain(claim, at),
                  claim.end(),
                  seconds(claim.ended(), at)));
    }
    history.entries().stream()
        .filter(entry -> concerns(entry, violation))
        .sorted(Comparator.comparingLong(entry -> from(entry.fault())))
        .forEach(entry -> lines.add(text(entry, at)));
    return lines;
  }

  /** Without what is excused. */
  private static String certain(Claim claim, long at) {
    return claim.certain().isEmpty()
        ? "never"
        : claim.certain().stream()
            .map(each -> seconds(each.from(), at) + " to " + seconds(each.to(), at))
            .collect(Collectors.joining(" and "));
  }

  private static boolean concerns(Entry entry, Violation violation) {
    FaultSpan fault = entry.fault();
    return fault != null
        && (fault.lock() == null || fault.lock().equals(violation.lock()))
        && (entry.client() == null
            || violation.claims().isEmpty()
            || violation.claims().stream().anyMatch(of -> of.client().equals(entry.client())))
        && fault.to() >= violation.at() - BEFORE.toNanos()
        && fault.from() <= violation.at();
  }

  private static long from(@Nullable FaultSpan fault) {
    return fault == null ? 0 : fault.from();
  }

  private static String text(Entry entry, long at) {
    FaultSpan fault = entry.fault();
    return fault == null
        ? ""
        : "%s%s%s: from %s to %s"
            .formatted(
                entry.client() == null ? "" : entry.client() + " ",
                fault.what(),
                fault.node() == null ? "" : " (node " + fault.node() + ")",
                seconds(fault.from(), at),
                seconds(fault.to(), at));
  }

  private static String seconds(long time, long at) {
    return String.format(Locale.ROOT, "%+.4f", (time - at) / 1e9);
  }
}
