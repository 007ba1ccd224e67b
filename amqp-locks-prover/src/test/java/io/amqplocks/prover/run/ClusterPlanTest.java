package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ClusterPlanTest {

  private static final Duration LENGTH = Duration.ofSeconds(6);

  private static final List<FaultKind> OF_NODES =
      FaultKind.ofClusters().stream().filter(FaultKind::isOfNodes).toList();

  private static List<Plan.Harm> harms(FaultKind what) {
    return LongStream.range(0, 600)
        .mapToObj(seed -> ClusterPlan.of(seed, List.of(what), LENGTH))
        .flatMap(plan -> plan.harms().stream())
        .toList();
  }

  @Test
  void theSameSeedGivesTheSamePlan() {
    for (long seed = 0; seed < 30; seed++) {
      assertThat(ClusterPlan.of(seed, OF_NODES, LENGTH))
          .isEqualTo(ClusterPlan.of(seed, OF_NODES, LENGTH))
          .isNotEqualTo(ClusterPlan.of(seed + 1, OF_NODES, LENGTH));
    }
  }

  @Test
  void withoutAFaultOfNodesItIsThePlanOfASingleBroker() {
    for (long seed = 0; seed < 30; seed++) {
      List<FaultKind> faults = List.of(FaultKind.STOP, FaultKind.QUEUE_CRASH);
      assertThat(ClusterPlan.of(seed, faults, LENGTH)).isEqualTo(Plan.of(seed, faults, LENGTH));
    }
  }

  /** Its locks and its other faults do not depend on what is done to nodes. */
  @Test
  void aFaultOfNodesAddsToThePlanOfASingleBroker() {
    for (long seed = 0; seed < 30; seed++) {
      Plan plan = ClusterPlan.of(seed, List.of(FaultKind.NODE_KILL, FaultKind.STOP), LENGTH);
      Plan single = Plan.of(seed, List.of(FaultKind.STOP), plan.length());
      assertThat(plan.locks()).isEqualTo(single.locks());
      assertThat(plan.resizes()).isEqualTo(single.resizes());
      assertThat(plan.harms())
          .startsWith(single.harms().toArray(Plan.Harm[]::new))
          .hasSize(single.harms().size() + 1);
      assertThat(plan.work())
          .extracting(Plan.Work::client, Plan.Work::lock)
          .isEqualTo(
              single.work().stream()
                  .map(work -> org.assertj.core.api.Assertions.tuple(work.client(), work.lock()))
                  .toList());
    }
  }

  @Test
  void aSingleBrokerSuffersNothingThatIsDoneToNodesAndAClusterIsNeverDownAsAWhole() {
    assertThat(FaultKind.ofSingleBrokers())
        .doesNotContainAnyElementsOf(OF_NODES)
        .contains(FaultKind.BROKER_KILL, FaultKind.BROKER_STOP, FaultKind.STRANGER);
    assertThat(FaultKind.ofClusters())
        .contains(FaultKind.NODE_FLAP, FaultKind.NODE_SILENCE)
        .contains(FaultKind.NODE_KILL, FaultKind.NODE_STOP)
        .containsAll(FaultKind.ofClients())
        .doesNotContain(FaultKind.BROKER_KILL, FaultKind.BROKER_STOP);
  }

  @ParameterizedTest
  @EnumSource(names = {"NODE_FLAP", "NODE_SILENCE", "NODE_KILL", "NODE_STOP"})
  void eachNodeSuffersItMostlyForOneToSixSecondsAndClientsGoOnAfterIt(FaultKind what) {
    List<Plan.Harm> harms = harms(what);
    assertThat(harms)
        .hasSize(600)
        .allSatisfy(harm -> assertThat(harm.length().toMillis()).isBetween(1_000L, 70_000L))
        .extracting(Plan.Harm::client)
        .contains(0, 1, 2)
        .allMatch(node -> node < ClusterPlan.NODES);
    long longer = harms.stream().filter(harm -> harm.length().toMillis() > 14_000).count();
    assertThat(longer).isBetween(what == FaultKind.NODE_KILL ? 0L : 1L, 80L);
    for (long seed = 0; seed < 30; seed++) {
      Plan plan = ClusterPlan.of(seed, List.of(what), LENGTH);
      assertThat(plan.harms())
          .allSatisfy(
              harm ->
                  assertThat(harm.begin().plus(harm.length()))
                      .isLessThan(plan.length().minusSeconds(2)));
    }
  }

  @Test
  void someSilencesAreShorterThanNodesTakeToMissEachOtherAndSomeAreLonger() {
    assertThat(harms(FaultKind.NODE_SILENCE))
        .extracting(Plan.Harm::length)
        .anyMatch(length -> length.compareTo(Site.NET_TICK_TIME.multipliedBy(3).dividedBy(4)) < 0)
        .anyMatch(length -> length.compareTo(Site.NET_TICK_TIME.multipliedBy(5).dividedBy(4)) > 0);
  }

  @Test
  void thereIsAClientAtEachNodeAndConsumersAreWhereTheyWere() {
    for (long seed = 0; seed < 9; seed++) {
      long found = ClusterPlan.seedFor(seed);
      assertThat(ClusterPlan.of(found, List.of(), LENGTH).clients()).isEqualTo(ClusterPlan.NODES);
      assertThat(Plan.consumes(found)).isEqualTo(Plan.consumes(seed));
      assertThat(ClusterPlan.seedFor(found)).isEqualTo(found);
    }
  }
}
