package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.rabbitmq.client.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/** What {@link BrokerTest} makes of a class, seen by running JUnit in JVMs of their own. */
@Tag("one-jdk")
class BrokerTestTest {

  private static final Duration LONG = Duration.ofMinutes(4);

  /** The second form is that of a machine without any broker. */
  private static final Pattern MISSING = Pattern.compile("No RabbitMQ (9\\.9|broker) can be had");

  /** Runs the classes named and prints JUnit's events. */
  static final class Junit {

    public static void main(String[] args) throws ClassNotFoundException {
      EngineTestKit.Builder kit =
          EngineTestKit.engine("junit-jupiter")
              // Only for classes that ask for it.
              .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
              .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
              .configurationParameter(
                  "junit.jupiter.execution.parallel.config.fixed.parallelism", "4");
      for (String name : args) {
        kit.selectors(selectClass(Class.forName(name)));
      }
      kit.execute().allEvents().stream().map(Junit::text).forEach(System.out::println);
      System.out.println("done");
    }

    private static String text(Event event) {
      String result =
          event
              .getPayload(TestExecutionResult.class)
              .map(Object::toString)
              .or(() -> event.getPayload(String.class))
              .or(() -> event.getPayload(ReportEntry.class).map(Object::toString))
              .orElse("");
      return event.getType() + " " + event.getTestDescriptor().getDisplayName() + " " + result;
    }
  }

  private static List<String> run(Map<String, String> environment, Class<?>... classes) {
    ChildJvmBuilder builder = ChildJvm.of(Junit.class);
    for (Class<?> one : classes) {
      builder.args(one.getName());
    }
    // Whatever this JVM runs under: only the brokers of this machine, and none required.
    builder.env("AMQP_LOCKS_BROKER_REQUIRED", "false").env("AMQP_LOCKS_BROKER_LINES", "");
    builder.env("AMQP_LOCKS_BROKER_URI", "").env("DOCKER_HOST", "unix:///");
    builder.env("AMQP_LOCKS_BROKER_TURN", "");
    environment.forEach(builder::env);
    try (ChildJvm child = builder.start()) {
      child.awaitLine("done", LONG);
      return new ArrayList<>(child.lines());
    }
  }

  /** The newest line on this machine, whatever it is. */
  private static String line() {
    List<String> lines = new LocalSource(System.getenv()).lines();
    assumeThat(lines).as("a rabbitmq-server on this machine").isNotEmpty();
    return lines.get(0);
  }

  @BrokerTest(ownBroker = true)
  static class Hurting {
    @Test
    void leavesItsBrokerKilled(Broker broker) {
      broker.faults().kill();
    }
  }

  /** Gets the broker that {@link Hurting} had. */
  @BrokerTest(ownBroker = true)
  static class AfterHurting extends Using {}

  /** Whose tests ask for their broker at the same time. */
  @BrokerTest(ownBroker = true)
  @Execution(ExecutionMode.CONCURRENT)
  static class Concurrent {
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

    @RepeatedTest(8)
    void allHaveTheSame(Broker broker) {
      SEEN.add(broker.uri());
      assertThat(SEEN).hasSize(1);
    }
  }

  @BrokerTest
  static class HurtingOthers {
    @Test
    void wouldKillASharedBroker(Broker broker) {
      broker.faults().kill();
    }
  }

  /** Leaves a policy and a user, and finds none of another class. */
  @BrokerTest
  static class Leaving {
    @Test
    void leavesAPolicyAndAUser(Broker broker) {
      broker.faults().setPolicy("left", "^none$", "queues", "{\"max-length\":1}");
      broker.faults().addUser("left", "left", "", "", "");
    }
  }

  /** Fails if the user is still there. */
  @BrokerTest
  static class AfterLeaving extends Leaving {}

  @BrokerTest
  static class Using {
    @BeforeAll
    static void setUp(Broker broker) {
      broker.faults().setPolicy("outer", "^none$", "queues", "{\"max-length\":1}");
    }

    @Test
    void connects(Broker broker) throws Exception {
      assertConnects(broker);
    }

    @Nested
    class Inner {
      @Test
      void seesTheSame(Broker broker) throws Exception {
        assertConnects(broker);
      }
    }

    private static void assertConnects(Broker broker) throws Exception {
      try (Connection connection = broker.connectionFactory().newConnection()) {
        assertThat(connection.isOpen()).isTrue();
      }
    }
  }

  @Test
  void ownBrokerIsHealedAndGoesOnToTheNextClass() {
    List<String> events = run(Map.of(), Hurting.class, AfterHurting.class);

    assertThat(events).filteredOn(event -> event.contains("FAILED")).isEmpty();
    assertThat(events).filteredOn(event -> event.contains(" up after ")).hasSize(1);
    assertThat(events)
        .anyMatch(event -> event.startsWith("FINISHED connects") && event.contains("SUCCESSFUL"));
  }

  @Test
  void ownBrokerIsNotTheSharedOne() {
    List<String> events = run(Map.of(), Using.class, Hurting.class);

    assertThat(events).filteredOn(event -> event.contains("FAILED")).isEmpty();
    assertThat(events).filteredOn(event -> event.contains(" up after ")).hasSize(2);
  }

  @Test
  void sharedBrokerCannotBeHurtAsAWhole() {
    List<String> events = run(Map.of(), HurtingOthers.class, Using.class);

    assertThat(events)
        .anyMatch(
            event ->
                event.startsWith("FINISHED wouldKillASharedBroker")
                    && event.contains("FAILED")
                    && event.contains("@BrokerTest(ownBroker = true)"))
        .anyMatch(event -> event.startsWith("FINISHED connects") && event.contains("SUCCESSFUL"));
  }

  @Test
  void sharesOneBrokerThatIsHealedAfterEachClassAndFilledInEverywhere() {
    String line = line();
    List<String> events = run(Map.of(), Leaving.class, AfterLeaving.class, Using.class);

    assertThat(events).filteredOn(event -> event.startsWith("STARTED RabbitMQ " + line)).hasSize(3);
    assertThat(events).filteredOn(event -> event.contains("FAILED")).isEmpty();
    assertThat(events).filteredOn(event -> event.contains(" up after ")).hasSize(1);
    assertThat(events)
        .anyMatch(
            event -> event.startsWith("FINISHED seesTheSame") && event.contains("SUCCESSFUL"));
  }

  @BrokerTest(everyLine = true)
  static class Every {
    @Test
    void runs(Broker broker) {
      assertThat(broker.port()).isPositive();
    }
  }

  @BrokerTest(everyLine = true, before = "9.9")
  static class Older extends Every {}

  @BrokerTest(everyLine = true, from = "9.9")
  static class Newer extends Every {}

  @BrokerTest(from = "9.9")
  static class NewerOnce extends Every {}

  @Test
  void runsOnThoseLinesOnlyThatTheClassIsFor() {
    Map<String, String> lines = Map.of("AMQP_LOCKS_BROKER_LINES", line() + ",9.9");
    assertThat(run(lines, Older.class))
        .anyMatch(event -> event.startsWith("FINISHED runs") && event.contains("SUCCESSFUL"))
        // Not "9.9" alone: a log line's time of day may hold that too.
        .noneMatch(event -> event.contains("RabbitMQ 9.9") || event.contains("FAILED"));
    for (Class<?> newer : List.of(Newer.class, NewerOnce.class)) {
      assertThat(run(lines, newer))
          .anyMatch(event -> event.contains("ABORTED") && MISSING.matcher(event).find())
          .noneMatch(event -> event.startsWith("STARTED RabbitMQ " + line()));
    }
  }

  /** Nothing is reported as skipped that is not there to be run. */
  @Test
  void doesNotRunAtAllIfNoLineIsOneThatTheClassIsFor() {
    Map<String, String> lines = Map.of("AMQP_LOCKS_BROKER_LINES", line());
    assertThat(run(lines, Newer.class, NewerOnce.class))
        .anyMatch(event -> event.matches("FINISHED .*NewerOnce .*SUCCESSFUL.*"))
        .noneMatch(event -> event.matches(".*(FAILED|ABORTED|SKIPPED|STARTED runs).*"));
  }

  @BrokerTest(everyLine = true)
  static class EveryWithSetUp extends Every {
    @BeforeAll
    static void setUp(Broker broker) {
      assertThat(broker).as("one of several").isNull();
    }
  }

  @Test
  void setUpAroundSeveralLinesHasNoBroker() {
    List<String> events = run(Map.of("AMQP_LOCKS_BROKER_LINES", "9.9,9.8"), EveryWithSetUp.class);

    assertThat(events)
        .anyMatch(event -> event.contains("FAILED") && event.contains("take it in @BeforeEach"));
  }

  @Test
  void classThatRunsOnceIsSkippedBeforeItsSetUp() {
    List<String> events = run(Map.of("AMQP_LOCKS_BROKER_LINES", "9.9"), Using.class);

    assertThat(events)
        .anyMatch(event -> event.contains("ABORTED") && MISSING.matcher(event).find())
        .noneMatch(event -> event.contains("FAILED"));
  }

  @Test
  void lineThatIsNotThereIsSkippedWithTheReason() {
    List<String> events = run(Map.of("AMQP_LOCKS_BROKER_LINES", line() + ", 9.9"), Every.class);

    assertThat(events)
        .anyMatch(
            event ->
                event.startsWith("FINISHED RabbitMQ 9.9")
                    && event.contains("ABORTED")
                    && MISSING.matcher(event).find())
        .noneMatch(event -> event.contains("FAILED"))
        .anyMatch(event -> event.startsWith("FINISHED runs") && event.contains("SUCCESSFUL"));
  }

  @BrokerTest(embedded = true)
  static class Embedded {
    @Test
    void runsInThisJvm(Broker broker) {
      assertThat(broker.product()).startsWith("Apache Qpid Broker-J");
    }
  }

  @Test
  void onTheBrokerInTheJvmOnlyThoseRunThatSaySo() {
    Map<String, String> lines = Map.of("AMQP_LOCKS_BROKER_LINES", Brokers.EMBEDDED);
    assertThat(run(lines, Embedded.class, Using.class, Every.class))
        .anyMatch(
            event -> event.startsWith("FINISHED runsInThisJvm") && event.contains("SUCCESSFUL"))
        .noneMatch(event -> event.matches("STARTED (connects|seesTheSame|runs) .*"))
        .noneMatch(event -> event.contains("FAILED"))
        .filteredOn(event -> event.contains("ABORTED") && event.contains("asks for no RabbitMQ"))
        .hasSize(2);
  }

  /** The second run requires the missing line, so that it shows which one it takes. */
  @Test
  void inItsTurnARunOfTheSuiteTakesSomeOfTheLines() {
    Map<String, String> first =
        Map.of("AMQP_LOCKS_BROKER_LINES", line() + ",9.9", "AMQP_LOCKS_BROKER_TURN", "1/2");
    Map<String, String> second = new HashMap<>(first);
    second.put("AMQP_LOCKS_BROKER_TURN", "2/2");
    second.put("AMQP_LOCKS_BROKER_REQUIRED", "true");
    assertThat(run(first, Every.class))
        .anyMatch(event -> event.startsWith("FINISHED runs") && event.contains("SUCCESSFUL"));
    assertThat(run(second, Every.class))
        .noneMatch(event -> event.startsWith("FINISHED runs"))
        .anyMatch(event -> event.startsWith("FINISHED RabbitMQ 9.9") && event.contains("FAILED"));
  }

  /** Whether it is for one line or for the broker in the JVM. */
  @Test
  void aClassThatIsNotForEveryLineRunsInTheFirstRunOfTheSuiteAlone() {
    Map<String, String> first =
        Map.of("AMQP_LOCKS_BROKER_LINES", line(), "AMQP_LOCKS_BROKER_TURN", "1/2");
    assertThat(run(first, Using.class, Embedded.class))
        .anyMatch(event -> event.startsWith("FINISHED connects") && event.contains("SUCCESSFUL"))
        .anyMatch(
            event -> event.startsWith("FINISHED runsInThisJvm") && event.contains("SUCCESSFUL"));
    Map<String, String> second =
        Map.of("AMQP_LOCKS_BROKER_LINES", line(), "AMQP_LOCKS_BROKER_TURN", "2/2");
    assertThat(run(second, Using.class, Embedded.class, Every.class))
        .noneMatch(event -> event.matches("STARTED (connects|seesTheSame|runsInThisJvm) .*"))
        .noneMatch(event -> event.contains("ABORTED") || event.contains("FAILED"))
        .anyMatch(event -> event.startsWith("FINISHED runs") && event.contains("SUCCESSFUL"));
  }

  @Test
  void lineThatIsNotThereIsAnErrorIfRequired() {
    List<String> events =
        run(
            Map.of("AMQP_LOCKS_BROKER_LINES", "9.9", "AMQP_LOCKS_BROKER_REQUIRED", "true"),
            Every.class);

    assertThat(events)
        .anyMatch(
            event ->
                event.startsWith("FINISHED RabbitMQ 9.9")
                    && event.contains("FAILED")
                    && MISSING.matcher(event).find());
  }

  @Test
  void externalBrokerIsUsedAndNeverHurt() {
    try (OwnedBroker broker = new LocalSource(System.getenv()).start(line())) {
      List<String> events =
          run(Map.of("AMQP_LOCKS_BROKER_URI", broker.uri()), Hurting.class, Every.class);

      assertThat(events)
          .anyMatch(
              event ->
                  event.startsWith("FINISHED leavesItsBrokerKilled")
                      && event.contains("ABORTED")
                      && event.contains("external"))
          .anyMatch(event -> event.startsWith("FINISHED runs") && event.contains("SUCCESSFUL"));
      await().atMost(LONG).untilAsserted(() -> assertThat(broker.faults().connections()).isEmpty());
    }
  }

  @Test
  void unknownLineCannotBeStarted() {
    BrokerOffers local = new BrokerOffers(List.of(new LocalSource(System.getenv())), Map.of());
    assertThatThrownBy(() -> local.start("9.9"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageMatching("No RabbitMQ (9.9|broker) can be had.*");
  }

  @Test
  void testsOfAClassMayRunAtTheSameTime() {
    List<String> events = run(Map.of(), Concurrent.class);

    assertThat(events).noneMatch(event -> event.contains("FAILED"));
    assertThat(events).filteredOn(event -> event.contains("SUCCESSFUL")).hasSizeGreaterThan(8);
  }
}
