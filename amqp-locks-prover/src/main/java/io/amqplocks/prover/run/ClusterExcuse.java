package io.amqplocks.prover.run;

import io.amqplocks.prover.check.CertaintyCheck.Silence;
import io.amqplocks.prover.check.LossCheck;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * When a client of a cluster may be certain and wrong, because nodes lost each other: as the tables
 * of {@code docs/GUARANTEES.md} say for each kind of lock, and no longer.
 */
final class ClusterExcuse {

  /** How long it may take to tell a holder, when three nodes share the machine with all clients. */
  static final Duration NEWS = Duration.ofSeconds(1);

  /**
   * So long a process may go on handing over among its threads what it had acquired before: {@code
   * BrokerGrant.LONGEST}.
   */
  private static final Duration HANDED_OVER = Duration.ofMillis(100);

  /** How long a holder that is not told may be wrong. */
  private static final Duration UNTOLD = Excuse.CERTAIN.plus(NEWS);

  private final List<FaultSpan> faults;
  private final Optional<FaultSpan> rejoined;
  private final boolean mirrors;

  ClusterExcuse(History history) {
    faults = history.entries().stream().flatMap(entry -> Stream.ofNullable(entry.fault())).toList();
    // Only on Mnesia does it take an operator.
    rejoined = faults.stream().filter(fault -> fault.what().equals(Site.REJOINED)).findFirst();
    mirrors = isOnMnesia() && faults.stream().anyMatch(fault -> is(fault, FaultKind.POLICY));
  }

  private boolean isOnMnesia() {
    return rejoined.isPresent();
  }

  /** The client at that node. */
  static String clientOf(int node) {
    return Round.name(node - 1);
  }

  /** The times in which the client of that lease may be wrong about it. */
  List<Interval> of(Claim claim) {
    return faults.stream()
        .filter(fault -> fault.node() != null)
        .flatMap(
            fault ->
                Stream.of(of(fault, claim), parted(fault, claim), deed(fault, claim))
                    .flatMap(Optional::stream))
        .toList();
  }

  /** When no lease of the client of a stopped node can be HELD. */
  static Optional<Silence> silence(FaultSpan fault) {
    Integer node = fault.node();
    return node != null && is(fault, FaultKind.NODE_STOP)
        ? Optional.of(
            new Silence(
                clientOf(node),
                Long.MAX_VALUE,
                new Interval(
                    fault.full() + Excuse.CERTAIN.plus(Excuse.PASSING).toNanos(), fault.to())))
        : Optional.empty();
  }

  /**
   * The time that follows from an error (541) by which the broker ended a client's connection, with
   * all its leases: another client may have one of them before the news is there. A call that the
   * nodes could not answer when they lost each other has that effect, also some time later.
   *
   * @param faults all that happened
   */
  static Optional<Interval> of(Event event, List<FaultSpan> faults) {
    String detail = event.detail();
    boolean isTold = event.what() == What.LOST || event.what() == What.FAILED;
    if (!isTold || detail == null || !detail.contains(LossCheck.BROKER_ERROR)) {
      return Optional.empty();
    }
    return faults.stream()
        .filter(fault -> isHarm(fault) && fault.from() <= event.at())
        .map(fault -> new Interval(event.at() - NEWS.toNanos(), event.at()))
        .findFirst();
  }

  /** Whether it was done to a node, and not by one. */
  private static boolean isHarm(FaultSpan fault) {
    return fault.node() != null && !Site.isDeed(fault);
  }

  /**
   * Of a lease that was asked for before the harm was done, or handed over in the process a moment
   * later. Whoever gets one after that has what the broker took from somebody else, and is right.
   */
  private Optional<Interval> of(FaultSpan fault, Claim claim) {
    if (claim.asked() > fault.full() + HANDED_OVER.toNanos()) {
      return Optional.empty();
    }
    boolean isThere = claim.client().equals(clientOf(Objects.requireNonNull(fault.node())));
    if (is(fault, FaultKind.NODE_FLAP)) {
      return flap(fault, claim, isThere);
    }
    // Who misses a silent or stopped node does so when its clients are in doubt.
    return is(fault, FaultKind.NODE_KILL) ? killed(fault, claim, isThere) : Optional.empty();
  }

  private Optional<Interval> flap(FaultSpan fault, Claim claim, boolean isThere) {
    return switch (claim.lock().kind()) {
      case EXCLUSIVE_QUEUE_MUTEX, SLOT_SEMAPHORE -> Optional.empty();
      // The broker of 4.3 waits for a minute. On 3.10 it gives a token away at once, untold.
      case FENCED_MUTEX, FENCED_SOLE_CONSUMER, QUORUM_TOKENS ->
          isOnMnesia() ? until(fault, UNTOLD) : Optional.empty();
      // Its consumer is notified, and it has one from its first verification on.
      case CLASSIC_TOKENS ->
          until(fault, claim.acquired() > fault.from() - Plan.HEARTBEAT.toNanos() ? UNTOLD : NEWS);
      // On 3.10 a client of another node than the queue's was not notified.
      case MUTEX, SOLE_CONSUMER, ACTIVE_QUEUE ->
          until(fault, isOnMnesia() && !isThere ? UNTOLD : NEWS);
      case PERSISTENT_MUTEX, READ_WRITE_LOCK -> until(fault, NEWS);
    };
  }

  /** The registry of 4.3 has one owner of a queue. On Mnesia each side of a cut has its own. */
  private Optional<Interval> parted(FaultSpan fault, Claim claim) {
    boolean parts = is(fault, FaultKind.NODE_FLAP) || is(fault, FaultKind.NODE_SILENCE);
    return switch (claim.lock().kind()) {
      case EXCLUSIVE_QUEUE_MUTEX, SLOT_SEMAPHORE ->
          rejoined.filter(end -> parts).map(end -> new Interval(fault.from(), end.to()));
      default -> Optional.empty();
    };
  }

  /**
   * A node deletes exclusive queues that once were on the other one, whoever has them now. The next
   * verification tells. Or a node ends a connection, and says so only when all requests on that are
   * over.
   */
  private static Optional<Interval> deed(FaultSpan fault, Claim claim) {
    if (claim.asked() > fault.to() + HANDED_OVER.toNanos()) {
      return Optional.empty();
    }
    boolean concerns =
        switch (fault.what()) {
          case Site.CONNECTION_ERROR ->
              claim.client().equals(clientOf(Objects.requireNonNull(fault.node())));
          case Site.CLEANED_UP ->
              switch (claim.lock().kind()) {
                case EXCLUSIVE_QUEUE_MUTEX, SLOT_SEMAPHORE -> true;
                default -> false;
              };
          default -> false;
        };
    return concerns ? until(fault, UNTOLD) : Optional.empty();
  }

  /** The connections of its clients end. No queue of it is in use before it is back. */
  private Optional<Interval> killed(FaultSpan fault, Claim claim, boolean isThere) {
    if (mirrors) {
      // Another node has a mirrored queue at once.
      return switch (claim.lock().kind()) {
        case CLASSIC_TOKENS -> until(fault, UNTOLD);
        case MUTEX, SOLE_CONSUMER, ACTIVE_QUEUE, PERSISTENT_MUTEX, READ_WRITE_LOCK ->
            until(fault, NEWS);
        default -> isThere ? until(fault, NEWS) : Optional.empty();
      };
    }
    return isThere ? until(fault, NEWS) : Optional.empty();
  }

  private static Optional<Interval> until(FaultSpan fault, Duration length) {
    return Optional.of(new Interval(fault.from(), fault.full() + length.toNanos()));
  }

  private static boolean is(FaultSpan fault, FaultKind kind) {
    return fault.what().equals(kind.label());
  }
}
