package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.Cluster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short round on three nodes, one of which loses the others for a moment. */
@Tag("one-jdk")
class ClusterRoundTest {

  private static final List<FaultKind> FAULTS = List.of(FaultKind.NODE_FLAP);

  private static Cluster cluster;

  @BeforeAll
  static void start() {
    cluster = Cluster.start();
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void showsNoViolation(@TempDir Path results) throws IOException, InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Prover prover =
        new Prover(
            cluster,
            List.of(Prover.ownClient()),
            results,
            new PrintStream(out, true, StandardCharsets.UTF_8));
    long seed = shortRound();
    String told = "";
    // A machine with much else to do may do little of one.
    for (int rounds = 0; rounds < 3 && (rounds == 0 || didLittle(prover)); rounds++) {
      prover.round(seed, FAULTS);
      told = out.toString(StandardCharsets.UTF_8);
      assertThat(prover.violations()).as("%s%n%s", prover.violations(), told).isEmpty();
    }
    assertThat(didLittle(prover)).as(told).isFalse();
    assertThat(prover.summary()).startsWith("proof: ").doesNotContain(" 0 faults");
  }

  private static boolean didLittle(Prover prover) {
    return prover.operations() <= 50 || prover.acquired().get(0) <= 20;
  }

  /** Of locks of every kind, and not of consumers, which take longer to take turns. */
  private static long shortRound() {
    long seed = ClusterPlan.seedFor(1);
    while (isLong(ClusterPlan.of(seed, FAULTS, Duration.ofSeconds(6)))) {
      seed = ClusterPlan.seedFor(seed + 3);
    }
    return seed;
  }

  private static boolean isLong(Plan plan) {
    return plan.harms().stream()
        .anyMatch(harm -> harm.length().compareTo(Duration.ofSeconds(2)) > 0);
  }
}
