package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The prover on the client of this project, with every kind of lock. */
@Tag("one-jdk")
@BrokerTest
class ProverTest {

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final Prover prover;

  ProverTest(Broker broker, @TempDir Path results) {
    prover =
        new Prover(
            broker,
            List.of(Prover.ownClient()),
            results,
            new PrintStream(out, true, StandardCharsets.UTF_8));
  }

  /** A round has three seconds, of which a busy machine may take the most. */
  private void rounds(long seed, List<FaultKind> faults, BooleanSupplier enough)
      throws IOException, InterruptedException {
    for (int i = 0; i < 3 && !enough.getAsBoolean(); i++) {
      prover.round(seed, faults);
    }
  }

  private boolean hasManyOperations() {
    return prover.operations() > 100;
  }

  private BooleanSupplier hasAcquired(int times) {
    return () -> !prover.acquired().isEmpty() && prover.acquired().get(0) > times;
  }

  @Test
  void withoutAFault() throws IOException, InterruptedException {
    rounds(11, List.of(), this::hasManyOperations);
    assertThat(prover.violations()).as(out.toString(StandardCharsets.UTF_8)).isEmpty();
    assertThat(prover.operations()).isGreaterThan(100);
    assertThat(prover.taken()).as("writes that guarded rows took").isGreaterThan(10);
    assertThat(prover.summary())
        .containsPattern("^proof: [1-3] histories, ")
        .contains(" 0 faults, 0 viol");
  }

  @Test
  void withClientsThatAreKilledAndStopped() throws IOException, InterruptedException {
    rounds(14, List.of(FaultKind.KILL, FaultKind.STOP), this::hasManyOperations);
    assertThat(prover.violations()).as(out.toString(StandardCharsets.UTF_8)).isEmpty();
    assertThat(prover.operations()).isGreaterThan(100);
    assertThat(prover.summary()).doesNotContain(" 0 faults");
  }

  @Test
  void withAnOperatorAndStrangers() throws IOException, InterruptedException {
    rounds(
        13,
        List.of(FaultKind.STRANGER, FaultKind.READER, FaultKind.QUEUE_CRASH),
        this::hasManyOperations);
    assertThat(prover.violations()).as(out.toString(StandardCharsets.UTF_8)).isEmpty();
    assertThat(prover.operations()).isGreaterThan(100);
    assertThat(prover.summary()).containsPattern(" ([3-9]|[1-4][0-9]) faults");
  }

  @Test
  void consumersWithoutAFault() throws IOException, InterruptedException {
    rounds(15, List.of(), hasAcquired(3));
    assertThat(prover.violations()).as(out.toString(StandardCharsets.UTF_8)).isEmpty();
    assertThat(prover.summary())
        .containsPattern("^proof: [1-3] histories, ")
        .contains(" 0 faults, 0 viol");
    assertThat(prover.acquired().get(0)).isGreaterThan(3);
  }

  @Test
  void consumersThatAreKilledAndCutWhileTheirQueuesCrash()
      throws IOException, InterruptedException {
    rounds(
        18,
        List.of(FaultKind.KILL, FaultKind.RESET, FaultKind.CONSUMED_CRASH, FaultKind.CLOSE),
        hasAcquired(4));
    assertThat(prover.violations()).as(out.toString(StandardCharsets.UTF_8)).isEmpty();
    assertThat(prover.acquired().get(0)).isGreaterThan(4);
    assertThat(prover.summary()).doesNotContain(" 0 faults");
  }

  /** What it has told until then is checked, and the run ends. */
  @Test
  void aRoundThatCannotBeCarriedOutIsCounted(Broker broker, @TempDir Path results) {
    Prover broken =
        new Prover(
            broker,
            List.of(List.of("false")),
            results,
            new PrintStream(out, true, StandardCharsets.UTF_8));
    assertThatThrownBy(() -> broken.round(11, List.of())).isInstanceOf(IllegalStateException.class);
    assertThat(broken.summary()).startsWith("proof: 1 histories, 0 operations");
  }
}
