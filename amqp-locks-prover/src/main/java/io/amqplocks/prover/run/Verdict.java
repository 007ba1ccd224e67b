package io.amqplocks.prover.run;

import io.amqplocks.prover.check.Capacity;
import io.amqplocks.prover.check.CapacityCheck;
import io.amqplocks.prover.check.CertaintyCheck;
import io.amqplocks.prover.check.CertaintyCheck.Silence;
import io.amqplocks.prover.check.ExclusionCheck;
import io.amqplocks.prover.check.FencingOrderCheck;
import io.amqplocks.prover.check.GuardedRowCheck;
import io.amqplocks.prover.check.Linearizability;
import io.amqplocks.prover.check.Linearizability.Result;
import io.amqplocks.prover.check.LockModel;
import io.amqplocks.prover.check.LossCheck;
import io.amqplocks.prover.check.MessageCheck;
import io.amqplocks.prover.check.MessageCheck.Disturbances;
import io.amqplocks.prover.check.ReadWriteModel;
import io.amqplocks.prover.check.RefusalCheck;
import io.amqplocks.prover.check.SlotCheck;
import io.amqplocks.prover.check.Tolerance;
import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.check.WaitCheck;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Entry;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Interval;
import io.amqplocks.prover.run.Plan.Slots;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What the checkers say of one round.
 *
 * @param operations how many times a client asked for a lock, and how many messages were handled
 * @param acquired how many times it got it
 * @param faults how many things were done to clients and the broker
 * @param unknown of how many operations nobody knows whether they had an effect
 * @param taken how many writes guarded rows took
 * @param refused how many they did not take
 * @param excusedLosses how many losses are excused by nothing but the reason that the client names
 * @param violations the promises that were broken
 */
record Verdict(
    int operations,
    int acquired,
    int faults,
    int unknown,
    int taken,
    int refused,
    int excusedLosses,
    List<Violation> violations) {

  /** A longer search says nothing. */
  private static final int STEPS = 2_000_000;

  /** Nodes come together late, and a stranger's message may be in a queue for long. */
  private static final LossCheck.Faults LEASES =
      new LossCheck.Faults(
          Verdict::mayTakeLeases,
          fault ->
              (fault.node() != null && !Site.isDeed(fault))
                  || fault.what().equals(FaultKind.STRANGER.label()));

  /** Has a round checked. */
  static Verdict of(Plan plan, History history, List<Violation> stuck) {
    List<Violation> violations = new ArrayList<>(stuck);
    List<Claim> claims = history.claims();
    Map<LockRef, List<Claim>> byLock = claims.stream().collect(Collectors.groupingBy(Claim::lock));
    List<Blind> blind = blind(history);
    ClusterExcuse nodes = new ClusterExcuse(history);
    List<Silence> silences = silences(history);
    int notSearched = 0;
    int excusedLosses = 0;
    for (Slots each : plan.locks()) {
      LockRef lock = each.lock();
      List<Claim> of = byLock.getOrDefault(lock, List.of());
      List<Claim> excused = excused(of, blind, nodes);
      violations.addAll(tooMany(plan, each, excused, history));
      if (!plan.isResized(lock) && !lock.kind().consumes()) {
        violations.addAll(WaitCheck.check(lock, each.count(), history, of));
        violations.addAll(SlotCheck.check(lock, excused));
      }
      violations.addAll(
          FencingOrderCheck.check(
              lock,
              of,
              claim ->
                  isHandedOver(claim)
                      && (blind.stream()
                              .anyMatch(time -> time.concerns(claim) && time.saw(claim.acquired()))
                          || nodes.of(claim).stream()
                              .anyMatch(time -> time.has(claim.acquired())))));
      violations.addAll(GuardedRowCheck.check(lock, history.stored(lock), of));
      if (Excuse.tolerated(history, lock).equals(Tolerance.NONE)) {
        violations.addAll(GuardedRowCheck.checkRefusals(lock, history, excused));
      }
      violations.addAll(CertaintyCheck.check(lock, history, of, silences));
      violations.addAll(LossCheck.check(lock, history, of, plan.heartbeat(), LEASES));
      excusedLosses += LossCheck.excusedByReason(lock, history, of, plan.heartbeat(), LEASES);
      if (lock.kind().consumes()) {
        violations.addAll(MessageCheck.check(lock, history, disturbances(history)));
        if (plan.harms().isEmpty()) {
          violations.addAll(MessageCheck.checkProgress(lock, history, of));
        }
      }
      if (plan.harms().isEmpty() && !plan.isResized(lock)) {
        violations.addAll(RefusalCheck.check(lock, history));
        Result result = linearizability(each, of);
        if (result == Result.NO) {
          violations.add(
              new Violation(
                  Promise.LINEARIZABILITY,
                  lock,
                  of.get(of.size() - 1).ended(),
                  List.of(),
                  "No order of the %d leases of %s fits their times".formatted(of.size(), lock)));
        }
        notSearched += result == Result.UNKNOWN ? of.size() : 0;
      }
    }
    long asked = count(history, What.ASKS);
    long answered = count(history, What.ACQUIRED) + count(history, What.BUSY);
    int endless = (int) claims.stream().filter(each -> each.end() == Claim.End.UNKNOWN).count();
    int faults =
        (int)
            history.entries().stream()
                .map(Entry::fault)
                .filter(fault -> fault != null && !Site.isDeed(fault))
                .count();
    return new Verdict(
        (int) (asked + count(history, What.HANDLED)),
        claims.size(),
        faults,
        (int) (asked - answered) + endless + notSearched + ResizeStorm.unknown(history),
        (int) history.entries().stream().filter(entry -> entry.stored() != null).count(),
        (int) count(history, What.REFUSED),
        excusedLosses,
        List.copyOf(violations));
  }

  private static boolean mayTakeLeases(FaultSpan fault) {
    return Arrays.stream(FaultKind.values())
        .filter(kind -> kind.label().equals(fault.what()))
        .allMatch(FaultKind::mayTakeLeases);
  }

  private static Disturbances disturbances(History history) {
    Map<String, List<Interval>> stopped = new HashMap<>();
    Map<String, List<Interval>> harmed = new HashMap<>();
    for (Entry entry : history.entries()) {
      FaultSpan fault = entry.fault();
      if (fault != null && !Site.isDeed(fault)) {
        String client = Objects.requireNonNullElse(entry.client(), "");
        Interval time = new Interval(fault.from(), fault.to());
        harmed.computeIfAbsent(client, key -> new ArrayList<>()).add(time);
        if (fault.what().equals(FaultKind.STOP.label())
            || fault.what().equals(ClientProcess.KILLED)) {
          stopped.computeIfAbsent(client, key -> new ArrayList<>()).add(time);
        }
      }
    }
    return new Disturbances(stopped, harmed);
  }

  private static List<Silence> silences(History history) {
    List<Silence> result = new ArrayList<>();
    for (Entry entry : history.entries()) {
      FaultSpan fault = entry.fault();
      if (fault != null) {
        Excuse.silence(entry.client(), fault).ifPresent(result::add);
        ClusterExcuse.silence(fault).ifPresent(result::add);
      }
    }
    return result;
  }

  private static List<Violation> tooMany(
      Plan plan, Slots slots, List<Claim> claims, History history) {
    LockRef lock = slots.lock();
    return lock.kind() == LockRef.Kind.READ_WRITE_LOCK
        ? ExclusionCheck.check(lock, claims)
        : CapacityCheck.check(
            lock,
            claims,
            Capacity.in(history, lock, slots.count(), ResizeStorm.grace(lock, plan.heartbeat())),
            Excuse.tolerated(history, lock));
  }

  private static Result linearizability(Slots slots, List<Claim> claims) {
    return slots.lock().kind() == LockRef.Kind.READ_WRITE_LOCK
        ? Linearizability.check(
            new ReadWriteModel(), ReadWriteModel.FREE, ReadWriteModel.steps(claims), STEPS)
        : Linearizability.check(new LockModel(slots.count()), 0, LockModel.steps(claims), STEPS);
  }

  /** The times at which each client may be wrong, because it has not been told yet. */
  private record Blind(@Nullable String client, @Nullable LockRef lock, Interval time) {
    boolean concerns(Claim claim) {
      return (client == null || claim.client().equals(client))
          && (lock == null || claim.lock().equals(lock));
    }

    boolean saw(long moment) {
      return time.has(moment);
    }
  }

  /** The count of hand-overs within the process is the last 14 bits of a token. */
  private static boolean isHandedOver(Claim claim) {
    return claim.token() % (1 << 14) > 0;
  }

  private static List<Blind> blind(History history) {
    List<Blind> result = new ArrayList<>();
    List<FaultSpan> faults =
        history.entries().stream().map(Entry::fault).filter(Objects::nonNull).toList();
    for (Entry entry : history.entries()) {
      String client = entry.client();
      FaultSpan fault = entry.fault();
      Event event = entry.event();
      if (fault != null) {
        Excuse.of(fault).forEach(time -> result.add(new Blind(client, fault.lock(), time)));
      } else if (event != null) {
        Excuse.of(event, faults)
            .or(() -> ClusterExcuse.of(event, faults))
            .ifPresent(time -> result.add(new Blind(client, null, time)));
      }
    }
    return result;
  }

  private static List<Claim> excused(List<Claim> claims, List<Blind> blind, ClusterExcuse nodes) {
    return claims.stream()
        .map(
            claim -> {
              Claim result = claim;
              for (Blind each : blind) {
                result = each.concerns(claim) ? result.withoutCertainty(each.time()) : result;
              }
              for (Interval each : nodes.of(claim)) {
                result = result.withoutCertainty(each);
              }
              return result;
            })
        .toList();
  }

  private static long count(History history, What what) {
    return history.entries().stream()
        .map(Entry::event)
        .filter(Objects::nonNull)
        .map(Event::what)
        .filter(each -> each == what)
        .count();
  }

  /** Without what only the end of a round shows: messages may be on their way still. */
  Verdict ofABrokenOffRound() {
    return new Verdict(
        operations,
        acquired,
        faults,
        unknown,
        taken,
        refused,
        excusedLosses,
        violations.stream().filter(each -> each.promise() != Promise.DELIVERY).toList());
  }

  /** Both together. */
  Verdict and(Verdict other) {
    List<Violation> all = new ArrayList<>(violations);
    all.addAll(other.violations);
    return new Verdict(
        operations + other.operations,
        acquired + other.acquired,
        faults + other.faults,
        unknown + other.unknown,
        taken + other.taken,
        refused + other.refused,
        excusedLosses + other.excusedLosses,
        List.copyOf(all));
  }

  /** Before anything was checked. */
  static Verdict none() {
    return new Verdict(0, 0, 0, 0, 0, 0, 0, List.of());
  }
}
