package io.amqplocks.prover.run;

import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A page that shows who held a lock when: a lane for each slot and client, with waits, holds, times
 * of certainty, faults, and violations. It is one file, and needs nothing else.
 */
final class HistoryPage {

  private static final int LEFT = 190;
  private static final int WIDTH = 1_500;
  private static final int LANE = 18;
  private static final int MOST_LISTED = 20;

  private static final String STYLE =
      """
      body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; }
      h2 { font-size: 16px; margin: 2em 0 .3em; }
      .violation { color: #b00020; font-weight: 600; }
      svg { display: block; background: #fafafa; border: 1px solid #ddd; }
      text { font-size: 11px; fill: #444; }
      .wait { fill: #e3e3e3; } .held { fill: #a9c9ee; } .certain { fill: #1f6fc4; }
      .writes.held { fill: #f0c98a; } .writes.certain { fill: #b86a00; }
      .fault { fill: #f3b2a0; fill-opacity: .45; } .broken { stroke: #b00020; stroke-width: 2; }
      .guilty { stroke: #b00020; stroke-width: 2; }
      .key span { display: inline-block; padding: 0 .6em; margin-right: 1em; }
      """;

  private final Plan plan;
  private final String command;
  private final List<Claim> claims;
  private final List<Entry> faults;
  private final List<Violation> violations;
  private final long begin;
  private final long end;
  private final StringBuilder html = new StringBuilder();

  private HistoryPage(Plan plan, String command, History history, List<Violation> violations) {
    this.plan = plan;
    this.command = command;
    this.violations = violations;
    claims = history.claims();
    faults = history.entries().stream().filter(entry -> entry.fault() != null).toList();
    begin = claims.stream().mapToLong(Claim::asked).min().orElse(0);
    end = Math.max(begin + 1, claims.stream().mapToLong(Claim::ended).max().orElse(0));
  }

  /**
   * The page of a round.
   *
   * @param command what to tell {@code bin/prove} for the same round
   */
  static String of(Plan plan, String command, History history, List<Violation> violations) {
    return new HistoryPage(plan, command, history, violations).page();
  }

  private String page() {
    html.append("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>History ")
        .append(plan.seed())
        .append("</title><style>")
        .append(STYLE)
        .append("</style><h1>Round ")
        .append(plan.seed())
        .append("</h1><p>")
        .append(claims.size())
        .append(" leases, ")
        .append(faults.size())
        .append(" faults, ")
        .append(violations.size())
        .append(" violations. Do the same again by <code>bin/prove ")
        .append(command)
        .append("</code>.</p><p class=\"key\"><span class=\"k\" style=\"background:#e3e3e3\">waits")
        .append("</span><span style=\"background:#a9c9ee\">has it</span>")
        .append("<span style=\"background:#1f6fc4;color:#fff\">is certain to hold it</span>")
        .append("<span style=\"background:#f0c98a\">has a write lock</span>")
        .append("<span style=\"background:#b86a00;color:#fff\">is certain to hold it</span>")
        .append("<span style=\"background:#f3b2a0\">fault</span></p>");
    if (violations.size() > MOST_LISTED) {
      html.append("<p>The first " + MOST_LISTED + " violations:</p>");
    }
    for (Violation violation : violations.stream().limit(MOST_LISTED).toList()) {
      html.append("<p class=\"violation\">")
          .append(escaped(violation.promise() + ": " + violation.text()))
          .append(" (at ")
          .append(millis(violation.at()))
          .append(" ms)</p>");
    }
    plan.locks().forEach(this::lock);
    return html.append("</html>\n").toString();
  }

  private void lock(Plan.Slots slots) {
    List<Claim> own = claims.stream().filter(each -> each.lock().equals(slots.lock())).toList();
    Set<Lane> lanes =
        own.stream().map(HistoryPage::lane).collect(Collectors.toCollection(TreeSet::new));
    int height = LANE * Math.max(1, lanes.size()) + 24;
    html.append("<h2>")
        .append(escaped(slots.lock() + ", " + places(slots)))
        .append(own.size())
        .append(" leases</h2><svg width=\"")
        .append(LEFT + WIDTH + 10)
        .append("\" height=\"")
        .append(height)
        .append("\">");
    faults.forEach(each -> fault(each, slots.lock(), new ArrayList<>(lanes)));
    int y = 4;
    for (Lane lane : lanes) {
      html.append("<text x=\"4\" y=\"").append(y + 12).append("\">").append(escaped(lane.label()));
      html.append("</text>");
      for (Claim claim : own) {
        if (lane(claim).equals(lane)) {
          bars(claim, y);
        }
      }
      y += LANE;
    }
    violations.stream()
        .filter(each -> each.lock().equals(slots.lock()))
        .limit(MOST_LISTED)
        .forEach(
            each ->
                html.append(
                    "<line class=\"broken\" x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"0\" y2=\"%2$d\"/>"
                        .formatted(x(each.at()), height)));
    html.append("<text x=\"%d\" y=\"%d\">0 ms</text>".formatted(LEFT, height - 6));
    html.append(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d ms</text></svg>"
            .formatted(LEFT + WIDTH, height - 6, millis(end)));
  }

  private static String places(Plan.Slots slots) {
    return slots.lock().kind() == LockRef.Kind.READ_WRITE_LOCK
        ? "readers or a writer, "
        : slots.count() + (slots.count() == 1 ? " slot, " : " slots, ");
  }

  /** What is shown in one line. */
  private record Lane(String label, String client) implements Comparable<Lane> {
    @Override
    public int compareTo(Lane other) {
      return label.compareTo(other.label);
    }
  }

  /** Readers overlap, also those of one client, so each of its threads has a lane. */
  private static Lane lane(Claim claim) {
    String client = claim.client();
    String place =
        claim.lock().kind() == LockRef.Kind.READ_WRITE_LOCK
            ? "%s, %s #%03d".formatted(claim.reads() ? "reads" : "writes", client, claim.command())
            : "slot %02d, %s".formatted(claim.slot(), client);
    return new Lane(place, client);
  }

  private void fault(Entry entry, LockRef lock, List<Lane> lanes) {
    FaultSpan fault = entry.fault();
    String client = entry.client();
    if (fault == null || !lock.equals(Objects.requireNonNullElse(fault.lock(), lock))) {
      return;
    }
    for (int i = 0; i < lanes.size(); i++) {
      if (client == null || lanes.get(i).client().equals(client)) {
        bar("fault", fault.from(), fault.to(), 2 + i * LANE, LANE, fault.what());
      }
    }
  }

  private void bars(Claim claim, int y) {
    boolean guilty = violations.stream().anyMatch(each -> each.claims().contains(claim));
    String what =
        "%s: slot %d, token %d, %s"
            .formatted(
                claim, claim.slot(), claim.token(), claim.end().name().toLowerCase(Locale.ROOT));
    bar("wait", claim.asked(), claim.acquired(), y + 5, 4, what);
    String side = isWriter(claim) ? " writes" : "";
    bar((guilty ? "held guilty" : "held") + side, claim.acquired(), claim.ended(), y, 14, what);
    for (Interval each : claim.certain()) {
      bar("certain" + side, each.from(), each.to(), y + 3, 8, what);
    }
  }

  private static boolean isWriter(Claim claim) {
    return claim.lock().kind() == LockRef.Kind.READ_WRITE_LOCK && !claim.reads();
  }

  private void bar(String style, long from, long to, int y, int height, String title) {
    html.append(
        "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s, %d to %d ms</title></rect>"
            .formatted(
                style,
                x(from),
                y,
                Math.max(.5, x(to) - x(from)),
                height,
                escaped(title),
                millis(from),
                millis(to)));
  }

  private double x(long time) {
    double part = (double) (time - begin) / (end - begin);
    return LEFT + WIDTH * Math.min(1, Math.max(0, part));
  }

  private long millis(long time) {
    return (time - begin) / 1_000_000;
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
