package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import reactor.core.publisher.Mono;

/** No thread waits, the first lock is had and the second is busy: the first is given back. */
@BrokerTest
class SecondLockBusyTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  SecondLockBusyTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    private final ObjectProvider<AmqpLocks> locks;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    Work(ObjectProvider<AmqpLocks> locks) {
      this.locks = locks;
    }

    int begun() {
      return begun.get();
    }

    int ended() {
      return ended.get();
    }

    @MutexGuarded(name = "before-${test.lock}")
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
    CompletableFuture<String> throwing() {
      return CompletableFuture.completedFuture("ran");
    }

    @MutexGuarded(name = "before-${test.lock}")
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = "50ms")
    CompletableFuture<@Nullable String> skipping() {
      return CompletableFuture.completedFuture("ran");
    }

    @MutexGuarded(name = "before-${test.lock}")
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "held")
    CompletableFuture<Integer> falling() {
      return CompletableFuture.completedFuture(-1);
    }

    CompletableFuture<Integer> held() {
      return CompletableFuture.completedFuture(locks.getObject().status().held());
    }

    @MutexGuarded(name = "before-${test.lock}")
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "heldMono")
    Mono<Integer> fallingMono() {
      return Mono.just(-1);
    }

    Mono<Integer> heldMono() {
      return Mono.fromFuture(held());
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "never")
    CompletableFuture<@Nullable String> endless() {
      return CompletableFuture.completedFuture("ran");
    }

    CompletableFuture<@Nullable String> never() {
      return Mono.<String>never()
          .doOnSubscribe(subscription -> begun.incrementAndGet())
          .doOnCancel(ended::incrementAndGet)
          .toFuture();
    }
  }

  private void whileBusy(Consumer<Work> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              LockTemplate template = context.getBean(LockTemplate.class);
              try (Lease other = template.mutex(onBroker.name()).acquire()) {
                test.accept(context.getBean(Work.class));
                assertThat(context.getBean(AmqpLocks.class).status().held()).isEqualTo(1);
                template.mutex("before-" + onBroker.name()).tryAcquire().orElseThrow().close();
                assertThat(other.lossReason()).isEmpty();
              }
            });
  }

  @Test
  void thrown() {
    whileBusy(
        work ->
            assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(work.throwing()::join)
                .withCauseInstanceOf(LockException.AcquireTimeout.class));
  }

  @Test
  void skipped() {
    whileBusy(work -> assertThat(work.skipping().join()).isNull());
  }

  @Test
  void theFallbackHoldsNothing() {
    whileBusy(
        work -> {
          assertThat(work.falling().join()).isEqualTo(1);
          assertThat(work.fallingMono().block(LONG)).isEqualTo(1);
        });
  }

  @Test
  void cancellingReachesTheFallback() {
    whileBusy(
        work -> {
          CompletableFuture<@Nullable String> outer = work.endless();
          await().atMost(LONG).until(() -> work.begun() == 1);
          outer.cancel(true);
          await().atMost(LONG).until(() -> work.ended() == 1);
        });
  }
}
