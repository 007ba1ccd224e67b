package io.amqplocks.benchmarks.peers;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.spring.BrokerSettings;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/**
 * Annotated methods of a Spring application that do nothing, and the locks that guard them. Such a
 * lock is held for the length of the call. So {@link PeerLock#acquire} makes the whole call and
 * ignores its argument, and nothing is left to release.
 */
final class GuardedCalls implements AutoCloseable {

  /** As an application has it. */
  static class Work {
    private static final String WAIT = "30s";

    @MutexGuarded(name = "${bench.mutex}", maxWait = WAIT)
    void underMutex() {}

    @SemaphoreGuarded(name = "${bench.semaphore}", slots = 5, maxWait = WAIT)
    void underSemaphore() {}
  }

  private final AnnotationConfigApplicationContext application =
      new AnnotationConfigApplicationContext();
  private final Work work;

  /**
   * Starts the application, which has connections of its own.
   *
   * @param prefix of all queues
   * @param mutex the name of a mutex
   * @param semaphore the name of a semaphore of tokens on a classic queue
   */
  GuardedCalls(ConnectionFactory factory, String prefix, String mutex, String semaphore) {
    application
        .getEnvironment()
        .getPropertySources()
        .addFirst(
            new MapPropertySource(
                "bench",
                Map.of(
                    "bench.mutex",
                    mutex,
                    "bench.semaphore",
                    semaphore,
                    "amqp-locks.queue-prefix",
                    prefix,
                    "amqp-locks.semaphore-queue-type",
                    "classic")));
    Address address = new Address(factory.getHost(), factory.getPort());
    application.registerBean(
        BrokerSettings.class, () -> new BrokerSettings(factory, List.of(address)));
    application.register(AmqpLocksAutoConfiguration.class, Work.class);
    application.refresh();
    work = application.getBean(Work.class);
  }

  /** A call under the mutex. */
  PeerLock mutex() {
    return call(work::underMutex);
  }

  /** A call under the semaphore. */
  PeerLock semaphore() {
    return call(work::underSemaphore);
  }

  private static PeerLock call(Runnable method) {
    return wait -> {
      method.run();
      return Optional.of(() -> {});
    };
  }

  @Override
  public void close() {
    application.close();
  }
}
