package io.amqplocks.benchmarks.peers;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import java.util.Map;
import java.util.Optional;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/**
 * Annotated methods of a Spring application that do nothing, and the locks that guard them. Such a
 * lock is held for the length of the call. So an acquire is a whole call, whatever it is to wait,
 * and its lease has been released already.
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
   * Starts the application.
   *
   * @param semaphore one of tokens on a classic queue
   */
  GuardedCalls(AmqpLocks locks, String mutex, String semaphore) {
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
                    "amqp-locks.semaphore-queue-type",
                    "classic")));
    application.registerBean(AmqpLocks.class, () -> locks);
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
