package io.amqplocks.spring;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Applications of one test on a broker, all under a queue prefix of the test's own, and whatever
 * they leave under that prefix taken away at the end.
 */
public final class LocksOnBroker implements AutoCloseable {

  static {
    // A busy machine takes its time.
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

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

  /** What the names of all queues of the test begin with. */
  public String prefix() {
    return prefix;
  }

  /** The queue of the mutex of the test's name. */
  public String mutexQueue() {
    return prefix + "mutex." + name;
  }

  /** Whether somebody holds the mutex of the test's name, of any key, or waits for it. */
  public boolean isMutexHeld() {
    return broker.faults().queues().stream()
        .anyMatch(queue -> queue.name().startsWith(mutexQueue()) && queue.consumers() > 0);
  }

  /** Waits until so many hold the mutex of the test's name or wait for it, as the broker counts. */
  public void awaitContenders(int number) {
    Awaitility.await()
        .until(
            () ->
                broker.faults().queues().stream()
                    .anyMatch(
                        queue -> queue.name().equals(mutexQueue()) && queue.consumers() == number));
  }

  /** The names of the queues under the prefix of the test's own. */
  public List<String> queues() {
    return broker.faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(queue -> queue.startsWith(prefix))
        .toList();
  }

  /** An application on the broker. */
  public ApplicationContextRunner application() {
    return Contexts.withoutBroker().withPropertyValues(properties());
  }

  /** What tells an application of the broker, and of the queue prefix. */
  public String[] properties() {
    ConnectionFactory settings = broker.connectionFactory();
    return new String[] {
      "spring.rabbitmq.host=" + broker.host(),
      "spring.rabbitmq.port=" + broker.port(),
      "spring.rabbitmq.username=" + settings.getUsername(),
      "spring.rabbitmq.password=" + settings.getPassword(),
      "spring.rabbitmq.virtual-host=" + settings.getVirtualHost(),
      "amqp-locks.queue-prefix=" + prefix,
      "amqp-locks.default-wait=20s",
      "test.lock=" + name
    };
  }

  /** Locks of another process; to be closed. */
  public AmqpLocks stranger() {
    return AmqpLocks.builder(broker.connectionFactory())
        .queuePrefix(prefix)
        .callTimeout(Duration.ofSeconds(10))
        .build();
  }

  /** Administers locks as a stranger. */
  public <T> T administer(Function<LockAdmin, T> action) {
    try (AmqpLocks stranger = stranger()) {
      return action.apply(stranger.admin());
    }
  }

  /** How many slots the token semaphore of the test's name has. */
  public int tokens() {
    return administer(admin -> admin.tokenSemaphore(name).count());
  }

  /** How many slots the semaphore of slots of the test's name has. */
  public int slots() {
    return administer(admin -> admin.slotSemaphore(name).count());
  }

  /** How many slots are in use of all semaphores of the test's name. */
  public int inUse() {
    return administer(
        admin -> admin.tokenSemaphore(name).inUse() + admin.slotSemaphore(name).holders().size());
  }

  /**
   * Waits until so many slots are in use of all semaphores of the test's name. A verification gives
   * a token back for a moment.
   */
  public void awaitInUse(int number) {
    Awaitility.await().untilAsserted(() -> Assertions.assertThat(inUse()).isEqualTo(number));
  }

  @Override
  public void close() {
    queues().forEach(this::delete);
  }

  /** One that is gone in the meantime, with the connection that owned it, is none to delete. */
  private void delete(String queue) {
    try {
      broker.faults().deleteQueue(queue);
    } catch (IllegalStateException e) {
      if (queues().contains(queue)) {
        throw e;
      }
    }
  }
}
