package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@code bin/demo} leaves at a broker that it was lent. */
@Tag("one-jdk")
@BrokerTest(ownBroker = true)
class DemoLeavingTest {

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
      try (ChildJvm demo = DemoProgram.on(broker).args("--once", "--processes", "2").start()) {
        DemoProgram.success(demo);
      }
      awaitOnly(before, broker);
      assertThat(channel.queueDelete(SOMEBODYS).getMessageCount()).isEqualTo(1);
    }
  }

  @Test
  void leavesNothingIfEndedWhileItStarts(Broker broker) {
    List<BrokerQueue> before = settled(broker);
    try (ChildJvm demo = DemoProgram.on(broker).start()) {
      demo.awaitLine("RabbitMQ ", DemoProgram.AT_MOST);
      assertThat(broker.faults().queues()).hasSizeGreaterThan(before.size());
      // As Ctrl-C does.
      assertThat(ProcessHandle.of(demo.pid()).orElseThrow().destroy()).isTrue();
      assertThat(demo.exitCode(DemoProgram.AT_MOST)).isPresent();
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
            () -> assertThat(broker.faults().queues()).containsExactlyInAnyOrderElementsOf(queues));
  }
}
