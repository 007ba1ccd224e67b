package io.amqplocks.lines;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The application, running on a broker, and at its end all of its queues deleted. */
final class LineApplication implements AutoCloseable {

  private final String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";
  private final Broker broker;
  private final ConfigurableApplicationContext context;

  LineApplication(Broker broker, String... more) {
    this.broker = broker;
    ConnectionFactory settings = broker.connectionFactory();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--spring.rabbitmq.host=" + broker.host(),
                "--spring.rabbitmq.port=" + broker.port(),
                "--spring.rabbitmq.username=" + settings.getUsername(),
                "--spring.rabbitmq.password=" + settings.getPassword(),
                "--spring.rabbitmq.virtual-host=" + settings.getVirtualHost(),
                "--amqp-locks.queue-prefix=" + prefix,
                "--lines.orders=" + orders(),
                "--amqp-locks.mutexes.report.wait=10s"));
    arguments.addAll(List.of(more));
    context = new SpringApplicationBuilder(Application.class).run(arguments.toArray(String[]::new));
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** The queue of its listener, which is deleted with those of the locks. */
  String orders() {
    return prefix + "orders";
  }

  ConfigurableApplicationContext context() {
    return context;
  }

  @Override
  public void close() {
    context.close();
    broker.faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(queue -> queue.startsWith(prefix))
        .forEach(broker.faults()::deleteQueue);
  }
}
