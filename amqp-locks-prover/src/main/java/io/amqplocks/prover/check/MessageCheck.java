package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Command.Action;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Looks for messages that were lost, that a consumer by two ways handled twice, or that a consumer
 * began while it was not the active one.
 */
public final class MessageCheck {

  /**
   * How long it may take, on a machine that is busy, from the check of a term to the call of the
   * handler, and from the grant of a term until the client tells of it.
   */
  private static final long LATE = TimeUnit.SECONDS.toNanos(1);

  /** How long clients may be active, in all, before one of them has handled a message. */
  private static final long ENOUGH = TimeUnit.SECONDS.toNanos(3);

  /** A command of a client. */
  private record Source(String client, long command) {}

  private record Handled(Source source, int consumer, long number, long begin, long end) {}

  /** A term, as far as its client told; it lasts for ever if the client told of no end. */
  private record Term(long from, long to) {}

  private final LockRef lock;
  private final Disturbances disturbances;
  private final Map<Source, Action> commands = new HashMap<>();
  private final Map<Long, Long> published = new TreeMap<>();
  private final List<Handled> handled = new ArrayList<>();
  private final Map<Source, Map<Integer, Term>> terms = new HashMap<>();
  private final Map<Source, List<Event>> ends = new HashMap<>();

  private MessageCheck(LockRef lock, History history, Disturbances disturbances) {
    this.lock = lock;
    this.disturbances = disturbances;
    history.entries().forEach(this::read);
  }

  /**
   * What was done to clients.
   *
   * @param stopped when each client was stopped, or killed
   * @param harmed when anything was done to each client, or to the broker by the name of {@code ""}
   */
  public record Disturbances(
      Map<String, List<Interval>> stopped, Map<String, List<Interval>> harmed) {

    /** Nothing. */
    public static final Disturbances NONE = new Disturbances(Map.of(), Map.of());

    private boolean harms(String client, long from, long to) {
      return Stream.of(client, "")
          .flatMap(each -> harmed.getOrDefault(each, List.of()).stream())
          .anyMatch(each -> each.from() <= to && from <= each.to());
    }
  }

  /** All violations. */
  public static List<Violation> check(LockRef lock, History history, Disturbances disturbances) {
    MessageCheck check = new MessageCheck(lock, history, disturbances);
    List<Violation> result = new ArrayList<>(check.lost());
    result.addAll(check.handledTwice());
    result.addAll(check.begunWithoutATerm());
    return List.copyOf(result);
  }

  /**
   * Whether clients were active for so long, without a fault, that they must have handled a
   * message, and did not.
   */
  public static List<Violation> checkProgress(LockRef lock, History history, List<Claim> claims) {
    MessageCheck check = new MessageCheck(lock, history, Disturbances.NONE);
    long active =
        claims.stream()
            .flatMap(claim -> claim.certain().stream())
            .mapToLong(each -> each.to() - each.from())
            .sum();
    boolean handledOne =
        check.handled.stream().anyMatch(each -> check.commands.get(each.source()) == Action.WORK);
    return handledOne || check.published.isEmpty() || active < ENOUGH
        ? List.of()
        : List.of(
            check.violation(
                Promise.LIVENESS,
                claims.get(claims.size() - 1).ended(),
                "clients were active for %.1f s and handled nothing".formatted(active / 1e9)));
  }

  /** The messages that the broker has confirmed, and nobody has handled. */
  public static Set<Long> missing(LockRef lock, History history) {
    return new MessageCheck(lock, history, Disturbances.NONE).missing();
  }

  private void read(Entry entry) {
    String client = entry.client();
    Command command = entry.command();
    Event event = entry.event();
    if (client != null && command != null && lock.equals(command.lock())) {
      commands.put(new Source(client, command.id()), command.action());
    }
    if (client == null || event == null) {
      return;
    }
    Source source = new Source(client, event.id());
    if (!commands.containsKey(source)) {
      return;
    }
    switch (event.what()) {
      case PUBLISHED -> published.put(event.token(), event.at());
      case HANDLED ->
          handled.add(new Handled(source, event.slot(), event.token(), event.from(), event.at()));
      case ACQUIRED ->
          terms
              .computeIfAbsent(source, key -> new LinkedHashMap<>())
              .put(event.cycle(), new Term(event.at(), Long.MAX_VALUE));
      case UNCERTAIN, LOST, RELEASED -> end(source, event);
      default -> {}
    }
  }

  private void end(Source source, Event event) {
    Map<Integer, Term> of = terms.getOrDefault(source, Map.of());
    Term term = of.get(event.cycle());
    ends.computeIfAbsent(source, key -> new ArrayList<>()).add(event);
    if (term != null && term.to() == Long.MAX_VALUE) {
      of.put(event.cycle(), new Term(term.from(), event.at()));
    }
  }

  private Set<Long> missing() {
    Set<Long> result = new TreeSet<>(published.keySet());
    handled.forEach(each -> result.remove(each.number()));
    return result;
  }

  private List<Violation> lost() {
    Set<Long> missing = missing();
    if (missing.isEmpty()) {
      return List.of();
    }
    return List.of(
        violation(
            Promise.DELIVERY,
            missing.stream().mapToLong(published::get).max().orElseThrow(),
            "%d of the %d messages that the broker confirmed were never handled: %s"
                .formatted(missing.size(), published.size(), missing.stream().limit(20).toList())));
  }

  private List<Violation> handledTwice() {
    if (lock.kind() != LockRef.Kind.ACTIVE_QUEUE) {
      return List.of();
    }
    List<Violation> result = new ArrayList<>();
    Set<List<Object>> before = new HashSet<>();
    for (Handled each : handled) {
      List<Object> what = List.of(each.source(), each.consumer(), each.number());
      // What is left in the end is handled from the queue, where a message may be twice.
      if (commands.get(each.source()) != Action.WORK) {
        continue;
      }
      if (before.contains(what)) {
        result.add(
            violation(
                Promise.UNIQUENESS,
                each.begin(),
                "consumer %d of %s handled message %d again"
                    .formatted(each.consumer(), each.source().client(), each.number())));
      } else if (!mayComeAgain(each)) {
        before.add(what);
      }
    }
    return result;
  }

  /**
   * A message goes back if its term ends and the broker does not hear of its handling: after a
   * loss, or if a fault comes together with the end of the term.
   */
  private boolean mayComeAgain(Handled message) {
    long from = message.begin() - LATE;
    long to = message.end() + LATE;
    return ends.getOrDefault(message.source(), List.of()).stream()
        .filter(end -> from <= end.at() && end.at() <= to)
        .anyMatch(
            end ->
                end.what() == What.LOST || disturbances.harms(message.source().client(), from, to));
  }

  private List<Violation> begunWithoutATerm() {
    List<Violation> result = new ArrayList<>();
    for (Handled each : handled) {
      Map<Integer, Term> of = terms.getOrDefault(each.source(), Map.of());
      // Who has the rest handled in the end tells of no terms.
      if (commands.get(each.source()) == Action.WORK
          && of.values().stream().noneMatch(term -> mayBegin(each, term))
          && !isStoppedAtOnce(each)) {
        result.add(
            violation(
                Promise.ACTIVITY,
                each.begin(),
                "%s began message %d while it was not the active consumer; its last term ended %s"
                    .formatted(each.source().client(), each.number(), ago(each, of.values()))));
      }
    }
    return result;
  }

  private boolean mayBegin(Handled message, Term term) {
    long from = term.from() - LATE;
    long to = term.to() == Long.MAX_VALUE ? term.to() : term.to() + LATE;
    for (Interval pause :
        disturbances.stopped().getOrDefault(message.source().client(), List.of())) {
      if (pause.from() <= to) {
        to = Math.max(to, pause.to() + LATE);
      }
      if (pause.to() >= from) {
        from = Math.min(from, pause.from() - LATE);
      }
    }
    return message.begin() >= from && message.begin() <= to;
  }

  /** Before it could tell of the term. */
  private boolean isStoppedAtOnce(Handled message) {
    return disturbances.stopped().getOrDefault(message.source().client(), List.of()).stream()
        .anyMatch(
            pause -> pause.from() >= message.begin() && pause.from() - message.begin() <= LATE);
  }

  private static String ago(Handled message, Iterable<Term> terms) {
    long last = Long.MIN_VALUE;
    for (Term term : terms) {
      last = term.to() <= message.begin() ? Math.max(last, term.to()) : last;
    }
    return last == Long.MIN_VALUE
        ? "at no time before"
        : "%.1f ms earlier".formatted((message.begin() - last) / 1e6);
  }

  private Violation violation(Promise promise, long at, String text) {
    return new Violation(promise, lock, at, List.of(), lock + ": " + text);
  }
}
