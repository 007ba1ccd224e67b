package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Nothing of a broker is left when it is closed, or when its JVM ends in whatever way. */
class BrokerLifeTest {

  private static final Pattern FOLDER = Pattern.compile("\\S*amqp-locks-broker-\\d+");

  /** Starts a broker, tells which processes it has, and then does as it is told. */
  static final class Owner {

    public static void main(String[] args) throws IOException {
      OwnedBroker broker = Brokers.start(args[0]);
      ProcessHandle.current()
          .descendants()
          .forEach(process -> System.out.println("process " + process.pid()));
      System.out.println("folder " + folder());
      if (args[1].equals("freeze")) {
        broker.faults().freeze();
      }
      System.out.println("ready");
      if (System.in.read() == 'c') {
        broker.close();
        System.out.println("closed");
      }
    }

    private static String folder() {
      return ProcessHandle.current()
          .descendants()
          .flatMap(process -> Stream.of(process.info().arguments().orElse(new String[0])))
          .map(FOLDER::matcher)
          .filter(Matcher::matches)
          .map(Matcher::group)
          // Some of its processes have a root of their own, and another path in it. Which is listed
          // first depends on the ids of processes, which begin again at some time.
          .filter(path -> Files.isDirectory(Path.of(path)))
          .findFirst()
          .orElseThrow();
    }
  }

  /** Whatever else there is: only a broker on this machine has processes to look at. */
  private static Stream<String> localLines() {
    List<String> lines = new LocalSource(System.getenv()).lines();
    return lines.isEmpty() ? Stream.of("") : lines.stream();
  }

  private static String localLine() {
    return localLines().findFirst().orElseThrow();
  }

  @Test
  void nothingOutlivesAKilledJvm() {
    Run run = start(localLine(), "run");
    run.owner.killNow();
    run.awaitNothingLeft();
  }

  @ParameterizedTest
  @MethodSource("localLines")
  void notEvenAFrozenBrokerOutlivesAKilledJvm(String line) {
    Run run = start(line, "freeze");
    run.owner.killNow();
    run.awaitNothingLeft();
  }

  @ParameterizedTest
  @MethodSource("localLines")
  void itsProcessIsTheOneThatEndsWithIt(String line) {
    assumeThat(line).as("a rabbitmq-server on this machine").isNotEmpty();
    OwnedBroker broker = new LocalSource(System.getenv()).start(line);
    try (broker) {
      ProcessHandle process = broker.process().orElseThrow();
      assertThat(process.info().command().orElse("")).contains("beam");
      broker.faults().kill();
      assertThat(process.isAlive()).isFalse();
      assertThat(broker.process()).isEmpty();
      broker.faults().start();
      assertThat(broker.process()).get().isNotEqualTo(process);
    }
    await().atMost(Duration.ofMinutes(1)).until(() -> broker.process().isEmpty());
  }

  @Test
  void nothingOutlivesClose() {
    Run run = start(localLine(), "run");
    try (run.owner) {
      run.owner.send("c");
      run.owner.awaitLine("closed", Duration.ofMinutes(1));
      run.awaitNothingLeft();
    }
  }

  @Test
  void nothingOutlivesAnOrderlyEndWithoutClose() {
    Run run = start(localLine(), "run");
    try (run.owner) {
      run.owner.send("x");
      assertThat(run.owner.exitCode(Duration.ofMinutes(1))).hasValue(0);
      run.awaitNothingLeft();
    }
  }

  /** A JVM with a broker, the broker's processes and its folder. */
  private record Run(ChildJvm owner, List<Long> processes, Path folder) {

    void awaitNothingLeft() {
      await().atMost(Duration.ofMinutes(1)).until(() -> processes.stream().noneMatch(Run::alive));
      await().atMost(Duration.ofMinutes(1)).until(() -> !Files.exists(folder));
    }

    private static boolean alive(long pid) {
      return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }
  }

  private static Run start(String line, String mode) {
    assumeThat(line).as("a rabbitmq-server on this machine").isNotEmpty();
    ChildJvm owner =
        ChildJvm.of(Owner.class)
            .args(line, mode)
            .env("AMQP_LOCKS_BROKER_URI", "")
            .env("DOCKER_HOST", "unix:///")
            .start();
    owner.awaitLine("ready", Duration.ofMinutes(3));
    List<Long> processes =
        owner.lines().stream()
            .filter(text -> text.startsWith("process "))
            .map(text -> Long.valueOf(text.substring(8)))
            .toList();
    Path folder =
        owner.lines().stream()
            .filter(text -> text.startsWith("folder "))
            .map(text -> Path.of(text.substring(7)))
            .findFirst()
            .orElseThrow();
    assertThat(processes).hasSizeGreaterThanOrEqualTo(3);
    assertThat(folder).isDirectory();
    return new Run(owner, processes, folder);
  }

  @Test
  void failureToStartSaysWhy(@TempDir Path scripts) throws IOException {
    Path script = scripts.resolve("rabbitmq-server");
    Files.writeString(
        script,
        """
        #!/bin/sh
        mkdir -p $RABBITMQ_LOG_BASE
        echo 'it burns' > $RABBITMQ_LOG_BASE/broker.log
        echo 'out of luck'
        exit 1
        """);
    assertThat(script.toFile().setExecutable(true)).isTrue();
    Installation broken = new Installation(new BrokerVersion(9, 9, 9), scripts, null);
    LocalNode node = new LocalNode(NodePlace.alone(broken));

    assertThatThrownBy(() -> NodeBroker.start(node, Address.of("127.0.0.1", 1), node::close))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("9.9.9")
        .hasMessageContaining("out of luck")
        .hasMessageContaining("it burns");
  }
}
