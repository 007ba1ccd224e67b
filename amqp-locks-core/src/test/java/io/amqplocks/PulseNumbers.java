package io.amqplocks;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What a sign of life costs the broker, in its processor's time for each; printed and not judged. Run it by
 * name, on a quiet machine. Only a broker that is a process of this machine can be measured.
 */
@BrokerTest(everyLine = true, ownBroker = true)
class PulseNumbers {

  private static final int REQUESTS = 20_000;

  @Test
  void print(Broker broker) throws Exception {
    List<Connection> connections = new ArrayList<>();
    List<Channel> channels = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      connections.add(broker.connectionFactory().newConnection());
      channels.add(connections.get(i).createChannel());
    }
    ask(channels, 5_000);
    Duration idle = cpu();
    long start = System.nanoTime();
    ask(channels, REQUESTS);
    double seconds = (System.nanoTime() - start) / 1e9;
    double micros = cpu().minus(idle).toNanos() / 1e3 / REQUESTS;
    System.out.printf(
        "RabbitMQ %s: a sign of life costs the broker %.0f us of processor time, %.0f us in all; once a"
            + " second: 1 process %.4f %%, 100 processes %.2f %%, 1,000 processes %.1f %% of a processor%n",
        broker.version(),
        micros,
        seconds * 1e6 / REQUESTS,
        micros / 1e4,
        micros / 1e2,
        micros / 10);
    for (Connection each : connections) {
      each.close();
    }
  }

  private static void ask(List<Channel> channels, int requests) throws Exception {
    for (int i = 0; i < requests; i++) {
      channels.get(i % channels.size()).basicQos(1);
    }
  }

  private static Duration cpu() {
    return ProcessHandle.current()
        .descendants()
        .filter(each -> each.info().command().orElse("").contains("beam"))
        .map(each -> each.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
