package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.DOUBLE;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.benchmarks.Goal.Verdict;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** From a broker to the table's lines. What the numbers are is not for a test to say. */
@BrokerTest(ownBroker = true)
class PathRowsTest {

  private static final Duration SHORT = Duration.ofMillis(200);

  @Test
  void measuresLockAndFloor(Broker broker) throws Exception {
    List<Row> rows = measure(broker, new ExclusiveQueueMutexPath());
    assertThat(rows).hasSize(2).allSatisfy(row -> assertThat(row.ratio()).isPositive().isFinite());
    assertThat(rows.get(0).verdict()).isNotEqualTo(Verdict.NOT_JUDGED);
    assertThat(rows.get(1).verdict()).isEqualTo(Verdict.NOT_JUDGED);
    assertThat(new Table(rows).result()).matches("goals: (1 met, 0|0 met, 1) missed");
  }

  @Test
  void measuresTokens(Broker broker) throws Exception {
    List<Row> rows = measure(broker, new TokenPath(TokenQueueType.CLASSIC));
    assertThat(rows).hasSize(1).first().extracting(Row::floor).asInstanceOf(DOUBLE).isPositive();
    assertThat(new Table(rows).result()).matches("goals: (1 met, 0|0 met, 1) missed");
  }

  @Test
  void leavesNothingBehind(Broker broker) throws Exception {
    var before = broker.faults().queues();
    measure(broker, new FencedPath(true));
    measure(broker, new QuorumMutexPath());
    measure(broker, new TokenPath(TokenQueueType.QUORUM));
    measure(broker, new SemaphorePath(2, 1, Goal.NONE));
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(broker.faults().queues()).containsExactlyInAnyOrderElementsOf(before));
  }

  /** Its sweeps have to remove all that it creates: nothing else does. */
  @Test
  void leavesNoSweptKeyBehind(Broker broker) throws Exception {
    var before = broker.faults().queues();
    List<Row> rows = measure(broker, new SweptKeys());
    assertThat(rows).hasSize(4).allSatisfy(row -> assertThat(row.ratio()).isPositive().isFinite());
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(broker.faults().queues()).containsExactlyInAnyOrderElementsOf(before));
  }

  private static List<Row> measure(Broker broker, CorePath path) throws Exception {
    return measure(broker, new PathRows(path));
  }

  private static List<Row> measure(Broker broker, RowSource source) throws Exception {
    List<Row> rows = new ArrayList<>();
    try (Lab lab = new Lab(broker.uri(), true, SHORT)) {
      source.measure(lab, rows::add);
    }
    return rows;
  }
}
