package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import reactor.core.publisher.Mono;

/**
 * What callers chain to a result may wait for another lock: more such chains at once than there are
 * threads that give back, each in its second step before any goes on.
 */
@BrokerTest
class BlockingCallbacksTest {

  private static final int CHAINS = 12;

  @AutoClose private final LocksOnBroker onBroker;

  BlockingCallbacksTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    @SemaphoreGuarded(name = "first-${test.lock}", slots = 100)
    CompletableFuture<String> first() {
      return CompletableFuture.completedFuture("first");
    }

    @SemaphoreGuarded(name = "second-${test.lock}", slots = 100)
    CompletableFuture<String> second() {
      return CompletableFuture.completedFuture("second");
    }

    @SemaphoreGuarded(name = "first-${test.lock}")
    Mono<String> firstMono() {
      return Mono.just("first");
    }

    @SemaphoreGuarded(name = "second-${test.lock}")
    Mono<String> secondMono() {
      return Mono.just("second");
    }

    @SemaphoreGuarded(name = "none-${test.lock}", slots = 1)
    void holding(Runnable work) {
      work.run();
    }

    @SemaphoreGuarded(
        name = "none-${test.lock}",
        onBusy = OnBusy.FALLBACK,
        fallbackMethod = "instead")
    CompletableFuture<String> busy(Supplier<String> instead) {
      return CompletableFuture.completedFuture("not reached");
    }

    CompletableFuture<String> instead(Supplier<String> instead) {
      return CompletableFuture.completedFuture(instead.get());
    }

    @SemaphoreGuarded(name = "keys-${test.lock}", key = "#key", slots = 1)
    CompletableFuture<String> created(String key) {
      return CompletableFuture.completedFuture("created");
    }
  }

  interface Chain {
    CompletableFuture<?> begin(CyclicBarrier together, int number);
  }

  private static String together(CyclicBarrier barrier) {
    try {
      barrier.await(60, TimeUnit.SECONDS);
      return "together ";
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private void endsAll(AssertableApplicationContext context, Chain chain) {
    CyclicBarrier barrier = new CyclicBarrier(CHAINS);
    CompletableFuture<?>[] all =
        IntStream.range(0, CHAINS)
            .mapToObj(number -> chain.begin(barrier, number))
            .toArray(CompletableFuture<?>[]::new);
    assertThat(CompletableFuture.allOf(all)).succeedsWithin(Duration.ofSeconds(90));
    assertThat(all).allSatisfy(each -> assertThat(each.join()).isEqualTo("together second"));
    assertThat(context).hasNotFailed();
  }

  private void run(java.util.function.BiConsumer<AssertableApplicationContext, Work> test) {
    onBroker
        .application()
        .withBean(Work.class)
        .run(context -> test.accept(context, context.getBean(Work.class)));
  }

  @Test
  void futures() {
    run(
        (context, work) ->
            endsAll(
                context,
                (barrier, number) ->
                    work.first().thenApply(text -> together(barrier) + work.second().join())));
  }

  @Test
  void monos() {
    run(
        (context, work) ->
            endsAll(
                context,
                (barrier, number) ->
                    work.firstMono()
                        .map(text -> together(barrier) + work.secondMono().block())
                        .toFuture()));
  }

  @Test
  void templates() {
    run(
        (context, work) -> {
          LockTemplate template = context.getBean(LockTemplate.class);
          LockHandle first = template.semaphore("first-" + onBroker.name());
          LockHandle second = template.semaphore("second-" + onBroker.name());
          endsAll(
              context,
              (barrier, number) ->
                  first
                      .executeAsync(() -> CompletableFuture.completedFuture("first"))
                      .thenApply(
                          text ->
                              together(barrier)
                                  + second
                                      .executeAsync(
                                          () -> CompletableFuture.completedFuture("second"))
                                      .join()));
        });
  }

  @Test
  void fallbacks() {
    run(
        (context, work) ->
            work.holding(
                () ->
                    endsAll(
                        context,
                        (barrier, number) ->
                            work.busy(() -> together(barrier) + work.second().join())
                                .thenApply(text -> text))));
  }

  @Test
  void firstUses() {
    run(
        (context, work) -> {
          LockTemplate template = context.getBean(LockTemplate.class);
          endsAll(
              context,
              (barrier, number) ->
                  template
                      .semaphore("keys-" + onBroker.name(), "key" + number)
                      .acquireAsync()
                      .thenApply(
                          lease -> {
                            lease.close();
                            return together(barrier)
                                + work.created("other" + number)
                                    .join()
                                    .replace("created", "second");
                          }));
        });
  }
}
