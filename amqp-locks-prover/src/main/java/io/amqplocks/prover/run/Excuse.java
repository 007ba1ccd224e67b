package io.amqplocks.prover.run;

import io.amqplocks.prover.check.CertaintyCheck.Silence;
import io.amqplocks.prover.check.LossCheck;
import io.amqplocks.prover.check.Tolerance;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The times at which a client may be certain and wrong. The broker frees what a client holds as
 * soon as the connection ends on its side, and the news takes its time. {@code docs/GUARANTEES.md}
 * says so. A lease that it begins at such a
 * time has a fencing token that was superseded.
 */
final class Excuse {

  /** How long the news of a closed connection may take on a machine that is busy. */
  static final Duration NEWS = Duration.ofMillis(500);

  /** How long it may take until connections are cut. */
  private static final Duration CUTTING = Duration.ofMillis(100);

  /** How long after the last answer of the broker a client is certain, if nothing tells it. */
  static final Duration CERTAIN = Plan.HEARTBEAT.multipliedBy(7).dividedBy(4);

  /** What a broker that is being stopped may still answer. */
  static final Duration PASSING = Duration.ofMillis(50);

  /** While these last, a client hears nothing that answers a request sent meanwhile. */
  private static final Set<FaultKind> SILENCES =
      EnumSet.of(FaultKind.DEAF, FaultKind.MUTE, FaultKind.PARTITION, FaultKind.BROKER_STOP);

  private static final Set<FaultKind> CRASHES =
      EnumSet.of(FaultKind.QUEUE_CRASH, FaultKind.GATE_CRASH, FaultKind.CONSUMED_CRASH);

  /** How long a token may be away before its lease is in doubt: {@code TokenArrivals.SOON}. */
  private static final Duration AWAY = Duration.ofMillis(100);

  /**
   * As {@link #AWAY}, if the last verification took long, as on a slow link or with a broker that
   * was stopped: {@code TokenArrivals.LONGEST_ELSEWHERE}.
   */
  private static final Duration LONG_AWAY = Duration.ofSeconds(1);

  private Excuse() {}

  /**
   * For how long at a time a lock may have a holder too many. A stranger's message may come to a
   * holder in place of the token that it gave back to verify it, and another client may have that
   * token then. The holder is certain until the message has arrived, or for as long as a token may
   * be away.
   */
  static Tolerance tolerated(History history, LockRef lock) {
    boolean alone =
        faults(history).filter(fault -> !Site.isDeed(fault)).allMatch(Excuse::isStrangers);
    Duration away = alone ? AWAY : LONG_AWAY;
    return faults(history)
        .filter(Excuse::isStrangers)
        .map(FaultSpan::from)
        .min(Comparator.naturalOrder())
        .filter(published -> lock.kind().isHeldByMessages())
        .map(published -> new Tolerance(published, away))
        .orElse(Tolerance.NONE);
  }

  private static Stream<FaultSpan> faults(History history) {
    return history.entries().stream().flatMap(entry -> Stream.ofNullable(entry.fault()));
  }

  private static boolean isStrangers(FaultSpan fault) {
    return fault.what().equals(FaultKind.STRANGER.label());
  }

  /** Those that follow from a fault. */
  static List<Interval> of(FaultSpan fault) {
    for (FaultKind kind : FaultKind.values()) {
      if (kind.label().equals(fault.what())) {
        return of(kind, fault);
      }
    }
    return List.of();
  }

  /**
   * The time that follows from a call, or a verification, that waited for a queue when that
   * crashed. The broker answers it by the end of the connection (541), with all leases of the
   * client, and the news takes its time.
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
        .filter(fault -> CRASHES.stream().anyMatch(kind -> kind.label().equals(fault.what())))
        .filter(fault -> event.from() <= fault.to() && event.at() >= fault.from())
        .filter(fault -> event.at() <= until(fault, NEWS).to())
        .map(fault -> new Interval(fault.from(), event.at()))
        .findFirst();
  }

  /**
   * When a client that suffers a fault cannot be certain, because the broker has confirmed nothing
   * that was sent since the fault was in full force. Empty if it may have.
   *
   * @param client null if it is a fault of the broker
   */
  static Optional<Silence> silence(@Nullable String client, FaultSpan fault) {
    long from = fault.full() + CERTAIN.plus(PASSING).toNanos();
    if (fault.what().equals(FaultKind.HALF_CUT.label())) {
      // The connections of that time stay silent for ever. Others work.
      return Optional.of(new Silence(client, fault.from(), new Interval(from, Long.MAX_VALUE)));
    }
    return SILENCES.stream().anyMatch(kind -> kind.label().equals(fault.what()))
        ? Optional.of(new Silence(client, Long.MAX_VALUE, new Interval(from, fault.to())))
        : Optional.empty();
  }

  private static List<Interval> of(FaultKind kind, FaultSpan fault) {
    return switch (kind) {
      case CUT, RESET, BROKER_KILL -> List.of(done(fault, NEWS));
      // The broker does it some time after it is asked.
      case CLOSE, QUEUE_DELETE -> List.of(until(fault, NEWS));
      // No news comes. The client's own clock ends its certainty.
      case HALF_CUT -> List.of(done(fault, CERTAIN.plus(CUTTING)));
      // A holder who got its token by basic.get is not told, and must find out.
      case QUEUE_CRASH, LINK_DROP -> List.of(until(fault, CERTAIN.plus(NEWS)));
      // What a client is told reaches it late.
      case LATE -> List.of(until(fault, Plan.LATENESS.plus(NEWS)));
      // Connections that were silent are reset when it is over.
      case DEAF, MUTE, PARTITION ->
          List.of(new Interval(fault.to(), fault.over() + NEWS.toNanos()));
      // A gate only decides who is next, and who consumes a queue holds another one. So their
      // loss excuses nobody by itself.
      case KILL,
          STOP,
          DELAY,
          BROKER_STOP,
          ALARM,
          POLICY,
          GATE_CRASH,
          GATE_DELETE,
          CONSUMED_CRASH,
          STRANGER,
          READER ->
          List.of();
      // It depends on the lock: see ClusterExcuse.
      case NODE_FLAP, NODE_SILENCE, NODE_KILL, NODE_STOP -> List.of();
    };
  }

  private static Interval until(FaultSpan fault, Duration length) {
    return new Interval(fault.from(), fault.to() + length.toNanos());
  }

  /** From its begin on, and for that long after it was done: in between it may happen any time. */
  private static Interval done(FaultSpan fault, Duration length) {
    return new Interval(fault.from(), fault.full() + length.toNanos());
  }
}
