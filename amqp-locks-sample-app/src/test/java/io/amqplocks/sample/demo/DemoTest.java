package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What {@code bin/demo} promises, with the tests' broker lent to it. */
class DemoTest {

  private static final Duration AT_MOST = Duration.ofMinutes(5);

  @Nested
  @BrokerTest(everyLine = true)
  class Once {

    @Test
    void withKillTheRestFinishAndTheLimitHolds(Broker broker) {
      try (ChildJvm demo = demo(broker).args("--once", "--kill").start()) {
        List<String> said = success(demo);
        assertThat(said).last().isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
        assertThat(said).anyMatch(line -> line.matches("worker \\d killed in mid-upload, .*"));
        assertThat(said)
            .anyMatch(line -> line.matches("slot \\d taken by worker \\d after \\d+ ms"));
      }
    }

    @Test
    void withAQueueForEachSlotToo(Broker broker) {
      ChildJvmBuilder program = demo(broker).args("--once", "--kill", "--algorithm", "slots");
      try (ChildJvm demo = program.start()) {
        List<String> said = success(demo);
        assertThat(said).last().isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
        assertThat(said).anyMatch(line -> line.endsWith("share 5 upload slots, a queue each"));
        assertThat(said)
            .anyMatch(line -> line.matches("slot \\d taken by worker \\d after \\d+ ms"));
      }
    }

    @Test
    void theSlotsAreThoseAskedForAndAllInUse(Broker broker) {
      ChildJvmBuilder program = demo(broker).args("--once", "--slots", "3", "--processes", "2");
      try (ChildJvm demo = program.start()) {
        assertThat(success(demo))
            .last()
            .isEqualTo("images: 60 uploaded, at most 3 at once, 0 leases lost");
      }
    }
  }

  @Nested
  @BrokerTest(ownBroker = true)
  class OnALentBroker {

    /** The queue that a worker outside a demo takes its work from. */
    private static final String SOMEBODYS = "images.todo";

    @Test
    void leavesOnlyWhatWasThere(Broker broker) throws Exception {
      try (Connection connection = broker.connectionFactory().newConnection();
          Channel channel = connection.createChannel()) {
        channel.queueDeclare(SOMEBODYS, true, false, false, null);
        channel.confirmSelect();
        channel.basicPublish("", SOMEBODYS, null, new byte[1]);
        channel.waitForConfirmsOrDie(30_000);
        List<BrokerQueue> before = settled(broker);
        try (ChildJvm demo = demo(broker).args("--once", "--processes", "2").start()) {
          success(demo);
        }
        awaitOnly(before, broker);
        assertThat(channel.queueDelete(SOMEBODYS).getMessageCount()).isEqualTo(1);
      }
    }

    @Test
    void leavesNothingIfEndedWhileItStarts(Broker broker) {
      List<BrokerQueue> before = settled(broker);
      try (ChildJvm demo = demo(broker).start()) {
        demo.awaitLine("RabbitMQ ", AT_MOST);
        assertThat(broker.faults().queues()).hasSizeGreaterThan(before.size());
        // As Ctrl-C does.
        assertThat(ProcessHandle.of(demo.pid()).orElseThrow().destroy()).isTrue();
        assertThat(demo.exitCode(AT_MOST)).isPresent();
        assertThat(demo.lines()).noneMatch(line -> line.contains("share"));
      }
      awaitOnly(before, broker);
    }

    /** What is there when nothing of an earlier demo is: its wake queues go some seconds after it. */
    private static List<BrokerQueue> settled(Broker broker) {
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  broker.faults().queues().stream()
                      .noneMatch(queue -> queue.name().startsWith("demo-")));
      return broker.faults().queues();
    }

    private static void awaitOnly(List<BrokerQueue> queues, Broker broker) {
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(broker.faults().queues()).containsExactlyInAnyOrderElementsOf(queues));
    }
  }

  /** Otherwise nobody would know that the demo could fail. */
  @Nested
  @BrokerTest
  class WithoutLocks {

    @Test
    void theDemoFails(Broker broker) {
      ChildJvmBuilder program = demo(broker).env("AMQP_LOCKS_ENABLED", "false");
      try (ChildJvm demo = program.args("--once", "--processes", "2", "--slots", "1").start()) {
        assertThat(demo.exitCode(AT_MOST)).hasValue(1);
        assertThat(demo.lines())
            .contains("More uploads at once than there are slots")
            .last()
            .asString()
            .matches("images: 60 uploaded, at most [2-8] at once, 0 leases lost");
      }
    }
  }

  @Test
  void aLineThatIsNotThereIsNamed() {
    ChildJvmBuilder program =
        demo().env("AMQP_LOCKS_BROKER_URI", "").env("DOCKER_HOST", "unix:///");
    try (ChildJvm demo = program.args("--once", "--broker", "9.9").start()) {
      assertThat(demo.exitCode(AT_MOST)).hasValue(1);
      // On a machine without any broker it says so instead.
      assertThat(demo.lines()).last().asString().startsWith("No RabbitMQ").contains("can be had");
    }
  }

  /** What it said, to its end. */
  private static List<String> success(ChildJvm demo) {
    OptionalInt code = demo.exitCode(AT_MOST);
    List<String> said = demo.lines();
    assertThat(code).as("%s %s", said, demo.errorLines()).hasValue(0);
    return said;
  }

  private static ChildJvmBuilder demo(Broker broker) {
    return demo().env("AMQP_LOCKS_BROKER_URI", broker.uri());
  }

  private static ChildJvmBuilder demo() {
    return ChildJvm.of(Demo.class)
        .systemProperty("logback.configurationFile", "demo-logback.xml")
        .systemProperty("sample.images", System.getProperty("sample.images", "target/images"));
  }
}
