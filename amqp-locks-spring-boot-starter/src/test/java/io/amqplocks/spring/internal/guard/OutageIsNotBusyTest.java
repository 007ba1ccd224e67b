package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.ApplicationContext;
import reactor.core.publisher.Mono;

/**
 * The broker is gone, and a call of this process waits for the lock. Another call that does not
 * wait must not conclude from that one that the lock is held.
 */
@BrokerTest
@Tag("defect-B2")
@Order(1) // of the longest
class OutageIsNotBusyTest {

  @AutoClose private final LocksOnBroker onBroker;
  @AutoClose private final TcpProxy proxy;

  OutageIsNotBusyTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    proxy = TcpProxy.to(broker);
  }

  static class Work {
    private final AtomicInteger ran = new AtomicInteger();

    int ran() {
      return ran.get();
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    void mutex() {
      ran.incrementAndGet();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 1, maxWait = "0s")
    void semaphore() {
      ran.incrementAndGet();
    }

    @SemaphoreGuarded(
        name = "${test.lock}-slots",
        slots = 1,
        algorithm = SemaphoreAlgorithm.SLOTS,
        maxWait = "0s")
    void slots() {
      ran.incrementAndGet();
    }

    @MutexGuarded(
        name = "${test.lock}-exclusive",
        algorithm = MutexAlgorithm.EXCLUSIVE_QUEUE,
        maxWait = "0s")
    void exclusiveQueue() {
      ran.incrementAndGet();
    }

    @MutexGuarded(
        name = "${test.lock}-tokens",
        algorithm = MutexAlgorithm.TOKENS,
        onBusy = OnBusy.SKIP)
    void tokens() {
      ran.incrementAndGet();
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    void skipped() {
      ran.incrementAndGet();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 1, onBusy = OnBusy.SKIP)
    Mono<String> skippedMono() {
      return Mono.fromSupplier(() -> "work " + ran.incrementAndGet());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "instead")
    String fallback() {
      return "work " + ran.incrementAndGet();
    }

    String instead() {
      return "instead " + ran.incrementAndGet();
    }

    @SemaphoreGuarded(
        name = "${test.lock}",
        slots = 1,
        onBusy = OnBusy.FALLBACK,
        fallbackMethod = "later")
    CompletableFuture<String> fallbackLater() {
      return CompletableFuture.completedFuture("work " + ran.incrementAndGet());
    }

    CompletableFuture<String> later() {
      return CompletableFuture.completedFuture("instead " + ran.incrementAndGet());
    }
  }

  static List<Named<Consumer<Work>>> calls() {
    return List.of(
        Named.of("mutex", Work::mutex),
        Named.of("semaphore", Work::semaphore),
        Named.of("slots", Work::slots),
        Named.of("exclusiveQueue", Work::exclusiveQueue),
        Named.of("tokens", Work::tokens),
        Named.of("skipped", Work::skipped),
        Named.of("skippedMono", work -> work.skippedMono().block()),
        Named.of("fallback", Work::fallback),
        Named.of("fallbackLater", work -> work.fallbackLater().join()));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void anOutageIsToldWhileAnotherCallWaits(Consumer<Work> call) {
    whileOthersWaitInAnOutage(
        context -> {
          Work work = context.getBean(Work.class);
          assertThat(cause(catchThrowable(() -> call.accept(work))))
              .isInstanceOf(LockException.Unreachable.class);
          assertThat(work.ran()).isZero();
        });
  }

  static List<Named<Consumer<LockHandle>>> acquires() {
    Duration little = Duration.ofSeconds(2);
    return List.of(
        Named.of("tryAcquire", LockHandle::tryAcquire),
        Named.of("tryExecute", lock -> lock.tryExecute(() -> {})),
        Named.of("acquire", lock -> lock.waiting(Duration.ZERO).acquire()),
        Named.of("acquireAsync", lock -> lock.waiting(Duration.ZERO).acquireAsync().join()),
        Named.of("acquire for a while", lock -> lock.waiting(little).acquire()),
        Named.of("acquireAsync for a while", lock -> lock.waiting(little).acquireAsync().join()));
  }

  /** Those for a while never come to the front of the queue, so they never ask the broker. */
  @ParameterizedTest
  @MethodSource("acquires")
  void soItIsByHandles(Consumer<LockHandle> acquire) {
    whileOthersWaitInAnOutage(
        context -> {
          LockTemplate template = context.getBean(LockTemplate.class);
          for (LockHandle lock : ofEachKind(template)) {
            assertThat(cause(catchThrowable(() -> acquire.accept(lock))))
                .isInstanceOf(LockException.Unreachable.class);
          }
        });
  }

  private List<LockHandle> ofEachKind(LockTemplate template) {
    String name = onBroker.name();
    return List.of(
        template.mutex(name),
        template.semaphore(name),
        template.lock(LockId.slotSemaphore(name + "-slots")),
        template.lock(LockId.exclusiveQueueMutex(name + "-exclusive")),
        template.lock(LockId.fencedMutex(name + "-tokens")));
  }

  private void whileOthersWaitInAnOutage(Consumer<ApplicationContext> test) {
    onBroker
        .application()
        .withPropertyValues(
            "spring.rabbitmq.host=" + proxy.host(),
            "spring.rabbitmq.port=" + proxy.port(),
            "amqp-locks.default-wait=120s")
        .withBean(Work.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              LockTemplate template = context.getBean(LockTemplate.class);
              List<LockHandle> handles = ofEachKind(template);
              handles.forEach(lock -> lock.execute(() -> {}));
              proxy.refuse(true);
              proxy.cut();
              await().until(() -> locks.status().session() == Session.ENDED);
              List<CompletableFuture<Lease>> waiters =
                  handles.stream().map(LockHandle::acquireAsync).toList();
              await().until(() -> locks.status().waiting() == handles.size());
              test.accept(context);
              assertThat(locks.status().waiting()).isEqualTo(handles.size());
              waiters.forEach(waiter -> waiter.cancel(true));
            });
  }

  private static Throwable cause(Throwable thrown) {
    return thrown instanceof CompletionException && thrown.getCause() != null
        ? thrown.getCause()
        : thrown;
  }
}
