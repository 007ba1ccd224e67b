package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Goal;
import io.amqplocks.benchmarks.Row;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One of our kinds beside one of a peer's that is for the same, in one scenario.
 *
 * @param scenario in which
 * @param metric which of its numbers
 * @param ours a kind of ours
 * @param peer a kind of another system
 * @param goal for the ratio of ours to the peer's
 */
record Comparison(Scenario scenario, Metric metric, Kind ours, Kind peer, Goal goal) {

  /** Who is compared with whom. */
  private static final Map<Kind, List<Kind>> PAIRS =
      Map.of(
          Kind.MUTEX,
          List.of(
              Kind.R_LOCK,
              Kind.R_FAIR_LOCK,
              Kind.INTER_PROCESS_MUTEX,
              Kind.ADVISORY_LOCK,
              Kind.JETCD_LOCK,
              Kind.REDIS_LOCK_REGISTRY,
              Kind.REDIS_LOCK_REGISTRY_PUB_SUB,
              Kind.JDBC_LOCK_REGISTRY,
              Kind.SHED_LOCK_REDIS,
              Kind.SHED_LOCK_JDBC),
          Kind.MUTEX_FENCED,
          List.of(Kind.R_FENCED_LOCK, Kind.INTER_PROCESS_MUTEX),
          Kind.PERSISTENT_MUTEX,
          List.of(Kind.R_LOCK, Kind.INTER_PROCESS_MUTEX),
          Kind.PERSISTENT_MUTEX_FENCED,
          List.of(Kind.R_FENCED_LOCK, Kind.INTER_PROCESS_MUTEX),
          Kind.FENCED_MUTEX,
          List.of(Kind.R_FENCED_LOCK, Kind.INTER_PROCESS_MUTEX, Kind.JETCD_LOCK),
          Kind.WRITE_LOCK,
          List.of(Kind.R_LOCK, Kind.INTER_PROCESS_MUTEX),
          Kind.SLOT_SEMAPHORE,
          List.of(
              Kind.R_SEMAPHORE, Kind.R_PERMIT_EXPIRABLE_SEMAPHORE, Kind.INTER_PROCESS_SEMAPHORE_V2),
          Kind.CLASSIC_TOKENS,
          List.of(
              Kind.R_SEMAPHORE, Kind.R_PERMIT_EXPIRABLE_SEMAPHORE, Kind.INTER_PROCESS_SEMAPHORE_V2),
          Kind.QUORUM_TOKENS,
          List.of(Kind.R_PERMIT_EXPIRABLE_SEMAPHORE, Kind.INTER_PROCESS_SEMAPHORE_V2));

  /** In these scenarios it is seen what a lease costs the broker ... */
  private static final Set<Scenario> COSTS = EnumSet.of(Scenario.CLIENTS, Scenario.PROCESSES);

  /** ... beside what it costs these systems' servers. */
  private static final Set<Peer> COST_PEERS = EnumSet.of(Peer.REDISSON, Peer.CURATOR);

  /** All of them, by scenario. */
  static List<Comparison> all() {
    List<Comparison> all = new ArrayList<>();
    for (Scenario scenario : Scenario.values()) {
      for (Kind ours : Kind.of(Peer.AMQP_LOCKS)) {
        for (Kind peer : PAIRS.getOrDefault(ours, List.of())) {
          if (!scenario.suits(ours) || !scenario.suits(peer)) {
            continue;
          }
          Goal goal = goal(scenario, ours, peer);
          all.add(new Comparison(scenario, scenario.metric(), ours, peer, goal));
          if (scenario == Scenario.HELD) {
            all.add(new Comparison(scenario, Metric.VERIFICATION, ours, peer, Goal.NONE));
          }
          if (COSTS.contains(scenario) && COST_PEERS.contains(peer.peer())) {
            all.add(new Comparison(scenario, Metric.SERVER_CPU, ours, peer, Goal.NONE));
          }
        }
      }
    }
    return all;
  }

  /** Those of the project; the rest is there to be seen. */
  private static Goal goal(Scenario scenario, Kind ours, Kind peer) {
    return switch (ours) {
      case MUTEX -> ofMutex(scenario, peer);
      case FENCED_MUTEX -> ofFencedMutex(scenario, peer);
      case CLASSIC_TOKENS -> ofClassicTokens(scenario, peer);
      default -> Goal.NONE;
    };
  }

  private static Goal ofMutex(Scenario scenario, Kind peer) {
    boolean isRLock = peer == Kind.R_LOCK;
    return switch (scenario) {
      case ALONE -> isRLock ? Goal.atMostTimes(1) : Goal.NONE;
      case THREADS -> isRLock ? Goal.atLeastTimes(30) : Goal.NONE;
      case CLIENTS ->
          switch (peer) {
            case R_LOCK -> Goal.atLeastTimes(2.6);
            case R_FAIR_LOCK -> Goal.atLeastTimes(1.5);
            default -> Goal.NONE;
          };
      case HAND_OVER -> Goal.atMostTimes(1);
      // The lock of PostgreSQL has no time to live either: it is freed with the connection.
      case NEW_NAME, BUSY, PROCESSES, PROCESS_HAND_OVER, HELD -> Goal.NONE;
      case DEATH -> peer == Kind.ADVISORY_LOCK ? Goal.NONE : Goal.atMostTimes(1);
    };
  }

  private static Goal ofFencedMutex(Scenario scenario, Kind peer) {
    boolean isFenced = peer == Kind.R_FENCED_LOCK;
    return switch (scenario) {
      case ALONE -> isFenced ? Goal.NONE : Goal.atMostTimes(0.5);
      case CLIENTS ->
          switch (peer) {
            case R_FENCED_LOCK -> Goal.atLeastTimes(1);
            case INTER_PROCESS_MUTEX -> Goal.atLeastTimes(1.5);
            default -> Goal.NONE;
          };
      default -> Goal.NONE;
    };
  }

  private static Goal ofClassicTokens(Scenario scenario, Kind peer) {
    if (scenario == Scenario.ALONE && peer == Kind.R_PERMIT_EXPIRABLE_SEMAPHORE) {
      return Goal.atMostTimes(1);
    }
    return scenario == Scenario.CLIENTS && peer == Kind.R_SEMAPHORE
        ? Goal.atLeastTimes(1)
        : Goal.NONE;
  }

  /** What the table calls it. */
  String title() {
    String what =
        switch (metric) {
          case SERVER_CPU -> ", server CPU of a lease";
          case VERIFICATION -> ", verification";
          default -> "";
        };
    return scenario.title() + what + ": " + ours.title() + " / " + peer.title();
  }

  /** The row of the table; empty if one of the two was not measured. */
  Optional<Row> row(Run run) {
    return run.find(scenario, ours, metric)
        .flatMap(
            mine ->
                run.find(scenario, peer, metric)
                    .map(
                        theirs ->
                            new Row(
                                title(),
                                metric.unit(),
                                mine.median(),
                                theirs.median(),
                                goal,
                                metric.lessIsBetter() ? "less is better" : "more is better")));
  }
}
