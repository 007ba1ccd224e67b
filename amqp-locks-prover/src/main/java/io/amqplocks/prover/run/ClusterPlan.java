package io.amqplocks.prover.run;

import io.amqplocks.prover.run.Plan.Harm;
import io.amqplocks.prover.run.Plan.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * The plan of a round on a cluster: that of a single broker with three clients, one at each node,
 * and what is done to nodes. That has random numbers of its own, so single brokers keep their
 * plans.
 */
final class ClusterPlan {

  static final int NODES = 3;

  private static final long OF_NODES = 0xC1_05_7E_12L;

  /** One in that many lasts for up to 70 s. */
  private static final int RARE = 12;

  private ClusterPlan() {}

  /**
   * The first seed, from that one on, of a plan in which there is a client at each node. Consumers
   * work in its round if they do in that of the given seed.
   */
  static long seedFor(long seed) {
    long result = seed;
    while (Plan.of(result, List.of(), Duration.ofSeconds(6)).clients() < NODES) {
      result += 3;
    }
    return result;
  }

  static Plan of(long seed, List<FaultKind> faults, Duration length) {
    Random random = new Random(seed ^ OF_NODES);
    List<Harm> ofNodes = new ArrayList<>();
    for (FaultKind what : faults) {
      if (what.isOfNodes()) {
        ofNodes.add(harm(random, what));
      }
    }
    Duration longest =
        ofNodes.stream().map(Harm::length).max(Duration::compareTo).orElse(Duration.ZERO);
    // So that clients go on for a while after the nodes have come together.
    Duration whole = length.plus(longest);
    Plan plain = Plan.of(seed, faults.stream().filter(what -> !what.isOfNodes()).toList(), whole);
    List<Harm> harms = new ArrayList<>(plain.harms());
    harms.addAll(ofNodes);
    return new Plan(
        seed,
        plain.clients(),
        plain.locks(),
        ofNodes.isEmpty() ? plain.work() : longer(random, plain.work()),
        plain.resizes(),
        harms,
        whole);
  }

  /** Whether nodes lose each other. */
  static boolean harmsNodes(Plan plan) {
    return plan.harms().stream().anyMatch(harm -> harm.what().isOfNodes());
  }

  /** Mostly shorter than nodes take to miss a silent one, and sometimes longer. */
  private static Harm harm(Random random, FaultKind what) {
    Duration begin = Duration.ofMillis(500L + random.nextInt(2_500));
    long lasts = 1_000L + random.nextInt(5_000);
    if (random.nextInt(RARE) == 0 && what != FaultKind.NODE_KILL) {
      lasts = 7_000L + random.nextInt(63_000);
    } else if (what == FaultKind.NODE_SILENCE && random.nextBoolean()) {
      lasts += Site.NET_TICK_TIME.toMillis();
    }
    return new Harm(what, random.nextInt(NODES), begin, Duration.ofMillis(lasts));
  }

  /** Who is between two leases when nodes lose each other shows nothing. */
  private static List<Work> longer(Random random, List<Work> work) {
    Set<List<Object>> seen = new HashSet<>();
    List<Work> result = new ArrayList<>();
    for (Work each : work) {
      boolean isFirst = seen.add(List.of(each.client(), each.lock()));
      result.add(
          isFirst && random.nextBoolean()
              ? new Work(
                  each.client(),
                  each.lock(),
                  each.load().holding(1_000_000L + random.nextInt(4_000_000)))
              : each);
    }
    return result;
  }
}
