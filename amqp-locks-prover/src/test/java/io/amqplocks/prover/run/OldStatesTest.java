package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The driver for old states, compiled as {@code bin/prove --against} does, with their core. */
@Tag("one-jdk")
@BrokerTest
class OldStatesTest {

  /** Before the findings of the safety review were mended. */
  private static final String COMMIT = "1be9587406e05b9959d944099891818561207f25^";

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

  private final Broker broker;

  @TempDir
  @SuppressWarnings("NullAway.Init")
  private Path folder;

  OldStatesTest(Broker broker) {
    this.broker = broker;
  }

  @Test
  void holdsAndReleasesWhatTheOldStateHasAndNothingElse() throws Exception {
    LockRef tokens = new LockRef(LockRef.Kind.CLASSIC_TOKENS, "tokens");
    LockRef mutex = new LockRef(LockRef.Kind.MUTEX, "mutex");
    Load load = new Load(1, false, false, 5_000, 5_000, 0);
    Plan plan =
        new Plan(
            1,
            1,
            List.of(new Plan.Slots(tokens, 1), new Plan.Slots(mutex, 1)),
            List.of(new Plan.Work(0, tokens, load), new Plan.Work(0, mutex, load)),
            List.of(),
            List.of(),
            Duration.ofSeconds(3));
    Round round =
        new Round(plan, Site.of(broker), List.of(client()), folder, Duration.ofSeconds(30));
    round.run();
    assertThat(Verdict.of(plan, round.history(), round.stuck()).violations())
        .extracting(Violation::text)
        .isEmpty();
    assertThat(round.history().claims())
        .isNotEmpty()
        .allMatch(claim -> claim.lock().equals(tokens));
    assertThat(round.history().entries().stream().map(each -> each.event()))
        .anyMatch(event -> event != null && event.what() == Event.What.RELEASED)
        .filteredOn(event -> event != null && event.what() == Event.What.UNSUPPORTED)
        .hasSize(1);
  }

  /** The command of a client that is compiled here. */
  private List<String> client() throws IOException, InterruptedException {
    Path core = folder.resolve("core.tar");
    if (run("git", "rev-parse", "--verify", "--quiet", COMMIT) != 0) {
      abort("There is no commit " + COMMIT + " here, as in a clone without history");
    }
    String sources = "amqp-locks-core/src/main/java";
    assertThat(run("git", "archive", "-o", core.toString(), COMMIT, sources)).isZero();
    assertThat(run("tar", "-xf", core.toString(), "-C", folder.toString())).isZero();
    Path prover = ROOT.resolve("amqp-locks-prover");
    Path today = prover.resolve("src/main/java");
    String others =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("amqp-locks-core"))
            .collect(Collectors.joining(File.pathSeparator));
    String classes = Files.createDirectory(folder.resolve("classes")).toString();
    List<String> command =
        List.of(
            JAVA_HOME.resolve("bin/javac").toString(),
            "-nowarn",
            "-proc:none",
            "-Xprefer:source",
            "-implicit:class",
            "-cp",
            others,
            "-sourcepath",
            prover.resolve("src/old-states/java") + File.pathSeparator + today,
            "-d",
            classes,
            today.resolve("io/amqplocks/prover/driver/Driver.java").toString());
    assertThat(run(Stream.concat(command.stream(), javaFiles(sources)).toArray(String[]::new)))
        .as(Files.readString(folder.resolve("output")))
        .isZero();
    return List.of(
        JAVA_HOME.resolve("bin/java").toString(),
        "-Xmx256m",
        "-cp",
        classes + File.pathSeparator + others,
        "io.amqplocks.prover.driver.Driver");
  }

  private Stream<String> javaFiles(String sources) throws IOException {
    try (Stream<Path> files = Files.walk(folder.resolve(sources))) {
      return files
          .map(Path::toString)
          .filter(file -> file.endsWith(".java") && !file.endsWith("module-info.java"))
          .toList()
          .stream();
    }
  }

  private int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command)
        .directory(ROOT.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("output").toFile())
        .start()
        .waitFor();
  }
}
