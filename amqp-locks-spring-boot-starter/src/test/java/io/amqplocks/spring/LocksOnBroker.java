package io.amqplocks.spring;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.test.Broker;
import java.util.UUID;
import java.util.function.Function;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Applications of one test on a broker, all under a queue prefix of the test's own, and the
 * semaphore of the test's name taken away at the end.
 */
public final class LocksOnBroker implements AutoCloseable {

  private final Broker broker;
  private final String name = "starter-" + UUID.randomUUID();
  private final String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";

  public LocksOnBroker(Broker broker) {
    this.broker = broker;
  }

  /** A name that no other test uses; also the property {@code test.lock}. */
  public String name() {
    return name;
  }

  /** The queue of the mutex of the test's name. */
  public String mutexQueue() {
    return prefix + "mutex." + name;
  }

  /** What the names of all queues of the semaphore of the test's name begin with. */
  public String semaphoreQueues() {
    return prefix + "semaphore." + name + ".";
  }

  /** An application on the broker. */
  public ApplicationContextRunner application() {
    ConnectionFactory settings = broker.connectionFactory();
    return Contexts.withoutBroker()
        .withPropertyValues(
            "spring.rabbitmq.host=" + broker.host(),
            "spring.rabbitmq.port=" + broker.port(),
            "spring.rabbitmq.username=" + settings.getUsername(),
            "spring.rabbitmq.password=" + settings.getPassword(),
            "spring.rabbitmq.virtual-host=" + settings.getVirtualHost(),
            "amqp-locks.queue-prefix=" + prefix,
            "amqp-locks.default-wait=20s",
            "test.lock=" + name);
  }

  /** Does something, as a stranger, to the semaphore of the test's name. */
  public <T> T administer(Function<SemaphoreAdmin, T> action) {
    try (AmqpLocks stranger =
        AmqpLocks.builder(broker.connectionFactory()).queuePrefix(prefix).build()) {
      return action.apply(stranger.admin().semaphore(name));
    }
  }

  /** How many slots the semaphore of the test's name has. */
  public int slots() {
    return administer(SemaphoreAdmin::count);
  }

  @Override
  public void close() {
    administer(SemaphoreAdmin::destroy);
  }
}
