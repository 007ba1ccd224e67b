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
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Looks for leases that were lost and did not notify their holder, or notified it although they
 * were released. Looks also for leases that were lost, and nothing had happened that may take a
 * lease. What may is:
 *
 * <ul>
 *   <li>a fault of the lease's client, of the broker, or of a queue of the lease's lock, until four
 *       heartbeats after it: a lease finds out within three. Where nodes of a cluster lose each
 *       other, and where a stranger leaves messages behind, there is no such bound;
 *   <li>a fault of any client, if a lease is a message: another client that is stopped while the
 *       message is on its way to it keeps it from its holder;
 *   <li>a change of the number of slots, if each slot has a queue of its own: the holder of a slot
 *       that is removed loses it. A growth that fails removes slots as well. A token that is to be
 *       removed is left to its holder until it comes back, so a change takes no lease of tokens;
 *   <li>a pause of the client that nobody asked for, as of a machine that is busy: the broker drops
 *       a client that is silent;
 *   <li>an error of the broker itself (541), by which it closes a connection with all leases;
 *   <li>a broker that is silent for several heartbeats, as on a busy machine, if the client says
 *       so;
 *   <li>doubt, if the lease is the term of a sole consumer and the client says so: a term ends as
 *       soon as its lease is not HELD, and on a busy machine an answer or a token may take that
 *       long;
 *   <li>the end of another slot's lease shortly before, and another call at the same time, if the
 *       lease is fenced and the lock is a token semaphore of quorum queues: a lease looks for idle
 *       tokens before it gives its own back to verify it, and one that comes back in between may be
 *       sent to it instead. The client must say that its token was given away.
 * </ul>
 *
 * <p>Losses of the last four sorts are {@linkplain #excusedByReason counted}, for a client may
 * provoke them.
 */
public final class LossCheck {

  /**
   * The broker's word for 541. The number itself may be part of a lock's name in the same text, and
   * only this error has this word.
   */
  public static final String BROKER_ERROR = "INTERNAL_ERROR";

  /** The words of the own client, and of its AMQP library, for a broker that was silent. */
  private static final List<String> SILENCE = List.of("EXPIRED", "Heartbeat missing");

  /** The own client's word for the end of a term whose lease was not HELD any more. */
  private static final String DOUBT = "UNCERTAIN";

  /** The own client's words for a token that did not come back when it was verified. */
  private static final String GIVEN_AWAY = "has given the token of queue";

  private static final Set<What> NOTIFICATIONS = EnumSet.of(What.NOTIFIED, What.NOT_NOTIFIED);

  private final LockRef lock;
  private final History history;
  private final long longestSilence;
  private final Faults faults;

  private LossCheck(LockRef lock, History history, Duration longestSilence, Faults faults) {
    this.lock = lock;
    this.history = history;
    this.longestSilence = longestSilence.toNanos();
    this.faults = faults;
  }

  /**
   * What faults do to leases.
   *
   * @param mayTake whether a fault is one that may take a lease
   * @param outlast whether what a fault leaves behind may take one until the end of the round
   */
  public record Faults(Predicate<FaultSpan> mayTake, Predicate<FaultSpan> outlast) {}

  /**
   * All violations.
   *
   * @param claims all leases of the lock
   * @param longestSilence for how long a client that holds a lease may tell nothing; if it is
   *     longer, the client was paused. It is a heartbeat
   * @param faults which of them may take a lease, and when
   */
  public static List<Violation> check(
      LockRef lock, History history, List<Claim> claims, Duration longestSilence, Faults faults) {
    LossCheck check = new LossCheck(lock, history, longestSilence, faults);
    List<Violation> found = new ArrayList<>(check.notifications(claims));
    check.losses(claims).stream()
        .filter(claim -> !check.isExcusedByReason(claim, claims))
        .map(check::violation)
        .forEach(found::add);
    return found;
  }

  /**
   * How many losses nothing explains but the reason that the client names, and that is an excuse.
   *
   * @param claims as for {@link #check}
   * @param longestSilence as for {@link #check}
   * @param faults as for {@link #check}
   */
  public static int excusedByReason(
      LockRef lock, History history, List<Claim> claims, Duration longestSilence, Faults faults) {
    LossCheck check = new LossCheck(lock, history, longestSilence, faults);
    return (int)
        check.losses(claims).stream()
            .filter(claim -> check.isExcusedByReason(claim, claims))
            .count();
  }

  /** Those that nothing explains but what the client was told. */
  private List<Claim> losses(List<Claim> claims) {
    return claims.stream()
        .filter(claim -> claim.end() == Claim.End.LOST)
        .filter(claim -> !isAfterAFault(claim))
        .filter(claim -> !isAfterAChangeOfSlots(claim))
        .filter(claim -> !isAfterAPause(claim))
        .toList();
  }

  private boolean isExcusedByReason(Claim claim, List<Claim> claims) {
    String reason = reason(claim);
    return reason.contains(BROKER_ERROR)
        || SILENCE.stream().anyMatch(reason::contains)
        || (lock.kind().consumes() && reason.contains(DOUBT))
        || (reason.contains(GIVEN_AWAY)
            && claim.fenced()
            && lock.kind() == LockRef.Kind.QUORUM_TOKENS
            && claims.stream().anyMatch(other -> isReleasedBefore(claim, other))
            && isBesideOthers(claim));
  }

  /**
   * Whether the other lease was of another slot, and ended not long before that one was lost. A
   * verification takes a heartbeat at most, and its client may tell of the loss one later.
   */
  private boolean isReleasedBefore(Claim claim, Claim other) {
    return other.slot() != claim.slot()
        && other.ended() >= claim.acquired()
        && other.ended() >= claim.ended() - 2 * longestSilence
        && other.ended() <= claim.ended();
  }

  /** Whether there was another call or lease of the lock in the time of that one. */
  private boolean isBesideOthers(Claim claim) {
    Set<List<Object>> works = new HashSet<>();
    history.commands().stream()
        .filter(told -> lock.equals(told.command().lock()))
        .forEach(told -> works.add(List.of(told.client(), told.command().id())));
    return history.entries().stream().anyMatch(entry -> isBeside(claim, entry, works));
  }

  private static boolean isBeside(Claim claim, Entry entry, Set<List<Object>> works) {
    String client = entry.client();
    Event event = entry.event();
    if (client == null || event == null || event.cycle() == 0) {
      return false;
    }
    boolean isItsOwn =
        claim.client().equals(client)
            && claim.command() == event.id()
            && claim.cycle() == event.cycle();
    return !isItsOwn
        && works.contains(List.of(client, event.id()))
        && event.at() >= claim.acquired()
        && event.at() <= claim.ended();
  }

  /** A client that was killed says nothing more of its lease, so nothing is required of it. */
  private List<Violation> notifications(List<Claim> claims) {
    List<Violation> found = new ArrayList<>();
    for (Entry entry : history.entries()) {
      Event event = entry.event();
      if (event == null || !NOTIFICATIONS.contains(event.what())) {
        continue;
      }
      claims.stream()
          .filter(claim -> claim.client().equals(entry.client()))
          .filter(claim -> claim.command() == event.id() && claim.cycle() == event.cycle())
          .filter(claim -> event.what() != What.NOTIFIED || claim.end() == Claim.End.RELEASED)
          .forEach(claim -> found.add(notification(claim, event)));
    }
    return found;
  }

  private Violation notification(Claim claim, Event event) {
    return new Violation(
        Promise.NOTIFICATION,
        lock,
        event.at(),
        List.of(claim),
        (event.what() == What.NOTIFIED
                ? "%s released %s, and was notified of a loss"
                : "%s lost %s, and was not notified")
            .formatted(claim, lock));
  }

  private boolean isAfterAFault(Claim claim) {
    return history.entries().stream().anyMatch(entry -> mayTake(entry, claim));
  }

  private boolean mayTake(Entry entry, Claim claim) {
    FaultSpan fault = entry.fault();
    return fault != null
        && faults.mayTake().test(fault)
        && fault.from() <= claim.ended()
        && (faults.outlast().test(fault) || claim.ended() <= fault.over() + 4 * longestSilence)
        && (fault.lock() == null || fault.lock().equals(lock))
        && (entry.client() == null
            || claim.client().equals(entry.client())
            || lock.kind().isHeldByMessages());
  }

  private boolean isAfterAChangeOfSlots(Claim claim) {
    return lock.kind() == LockRef.Kind.SLOT_SEMAPHORE
        && history.commands().stream()
            .filter(told -> history.outcome(told).filter(LossCheck::isUnsupported).isEmpty())
            .map(History.Told::command)
            .filter(command -> command.action() == Command.Action.RESIZE)
            .filter(command -> lock.equals(command.lock()))
            .anyMatch(command -> command.untilNanos() <= claim.ended());
  }

  private static boolean isUnsupported(Event end) {
    return end.what() == What.UNSUPPORTED;
  }

  /** A client that waits for a lock is silent as well, so only the time of the lease counts. */
  private boolean isAfterAPause(Claim claim) {
    TreeSet<Long> told = new TreeSet<>(List.of(claim.acquired(), claim.ended()));
    history.entries().stream()
        .filter(entry -> claim.client().equals(entry.client()))
        .map(Entry::event)
        .filter(Objects::nonNull)
        .map(Event::at)
        .filter(at -> at > claim.acquired() && at < claim.ended())
        .forEach(told::add);
    List<Long> moments = new ArrayList<>(told);
    for (int i = 1; i < moments.size(); i++) {
      if (moments.get(i) - moments.get(i - 1) > longestSilence) {
        return true;
      }
    }
    return false;
  }

  private Violation violation(Claim claim) {
    return new Violation(
        Promise.LOSS,
        lock,
        claim.ended(),
        List.of(claim),
        "%s lost %s, and nothing had happened that may take it%s"
            .formatted(claim, lock, reason(claim)));
  }

  /** What the client said of it. */
  private String reason(Claim claim) {
    return history.entries().stream()
        .filter(entry -> claim.client().equals(entry.client()))
        .map(Entry::event)
        .filter(Objects::nonNull)
        .filter(event -> event.id() == claim.command() && event.cycle() == claim.cycle())
        .filter(event -> event.what() == What.LOST && event.detail() != null)
        .findFirst()
        .map(event -> ": " + event.detail())
        .orElse("");
  }
}
