package io.amqplocks.sample;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs the sample with a broker of its own, which ends with it: {@code spring-boot:test-run}. Where
 * there is no RabbitMQ, it is the broker in this JVM. That one has no fenced mutexes, which
 * reporters need, so there are none of them.
 */
public final class TestSampleApplication {

  private TestSampleApplication() {}

  /** Starts the broker and the application. */
  public static void main(String[] args) {
    OwnedBroker broker = Brokers.start();
    ConnectionFactory settings = broker.connectionFactory();
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--spring.rabbitmq.host=" + settings.getHost());
    all.add("--spring.rabbitmq.port=" + settings.getPort());
    all.add("--spring.rabbitmq.username=" + settings.getUsername());
    all.add("--spring.rabbitmq.password=" + settings.getPassword());
    all.add("--spring.rabbitmq.virtual-host=" + settings.getVirtualHost());
    // As on a desk, also where that is a pod: in one, the sample is for others to reach.
    all.add("--spring.main.cloud-platform=none");
    if (!broker.product().equals("RabbitMQ")) {
      all.add("--spring.profiles.active=worker,receiver");
      all.add("--amqp-locks.semaphore-queue-type=classic");
    }
    SampleApplication.main(all.toArray(String[]::new));
  }
}
