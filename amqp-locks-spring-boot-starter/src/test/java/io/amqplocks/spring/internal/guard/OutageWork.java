package io.amqplocks.spring.internal.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.SemaphoreGuarded;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Methods of every policy for outages and every kind of result, which wait long for a busy lock.
 */
class OutageWork {

  private static final String LONG = "120s";

  private final AtomicInteger ran = new AtomicInteger();

  int ran() {
    return ran.get();
  }

  private String work() {
    ran.incrementAndGet();
    return "work";
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG)
  String asConfigured() {
    return work();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "2s", onUnavailable = OnUnavailable.WAIT)
  String waits() {
    return work();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.FAIL)
  String fails() {
    return work();
  }

  @SemaphoreGuarded(
      name = "${test.lock}",
      slots = 1,
      maxWait = LONG,
      onUnavailable = OnUnavailable.FAIL)
  String failsOfSemaphore() {
    return work();
  }

  @SemaphoreGuarded(
      name = "${test.lock}",
      key = "#key",
      slots = 1,
      maxWait = LONG,
      onUnavailable = OnUnavailable.FAIL)
  String failsOfKey(int key) {
    return work();
  }

  @SemaphoreGuarded(
      name = "${test.lock}",
      key = "#key",
      slots = 1,
      maxWait = LONG,
      onUnavailable = OnUnavailable.FAIL)
  CompletableFuture<String> failsOfKeyLater(int key) {
    return CompletableFuture.completedFuture(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.FAIL)
  CompletableFuture<String> failsLater() {
    return CompletableFuture.completedFuture(work());
  }

  @Async
  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.FAIL)
  CompletableFuture<String> failsInBackground() {
    return CompletableFuture.completedFuture(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.FAIL)
  Mono<String> failsMono() {
    return Mono.just(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.SKIP)
  Optional<String> skips() {
    return Optional.of(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.SKIP)
  CompletableFuture<@Nullable String> skipsLater() {
    return CompletableFuture.completedFuture(work());
  }

  @Async
  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.SKIP)
  CompletableFuture<@Nullable String> skipsInBackground() {
    return CompletableFuture.completedFuture(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.SKIP)
  Flux<String> skipsFlux() {
    return Flux.just(work());
  }

  @MutexGuarded(
      name = "${test.lock}",
      onBusy = OnBusy.FALLBACK,
      onUnavailable = OnUnavailable.FALLBACK,
      fallbackMethod = "instead")
  String fallsBack(String what) {
    return work() + what;
  }

  String instead(String what, LockException failure) {
    return what + (failure.isOutage() ? " in an outage" : " while busy");
  }

  @MutexGuarded(
      name = "${test.lock}",
      maxWait = LONG,
      onUnavailable = OnUnavailable.FALLBACK,
      fallbackMethod = "later")
  CompletableFuture<String> fallsBackLater() {
    return CompletableFuture.completedFuture(work());
  }

  @Async
  @MutexGuarded(
      name = "${test.lock}",
      maxWait = LONG,
      onUnavailable = OnUnavailable.FALLBACK,
      fallbackMethod = "later")
  CompletableFuture<String> fallsBackInBackground() {
    return CompletableFuture.completedFuture(work());
  }

  CompletableFuture<String> later() {
    return CompletableFuture.completedFuture("later");
  }

  @MutexGuarded(
      name = "${test.lock}",
      maxWait = LONG,
      onUnavailable = OnUnavailable.FALLBACK,
      fallbackMethod = "mono")
  Mono<String> fallsBackMono() {
    return Mono.just(work());
  }

  Mono<String> mono() {
    return Mono.just("later");
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  String runs() {
    return work();
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW, onUnavailable = OnUnavailable.RUN)
  String runsUnlessBusy() {
    return work();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  CompletableFuture<String> runsLater() {
    return CompletableFuture.completedFuture(work());
  }

  @Async
  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  CompletableFuture<String> runsInBackground() {
    return CompletableFuture.completedFuture(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  Flux<String> runsFlux() {
    return Flux.just(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG)
  @MutexGuarded(name = "${test.lock}-two", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  String runsWithoutTheSecond() {
    return work();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG)
  @MutexGuarded(name = "${test.lock}-two", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  Mono<String> runsWithoutTheSecondMono() {
    return Mono.just(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  @SemaphoreGuarded(
      name = "${test.lock}",
      slots = 1,
      maxWait = LONG,
      onUnavailable = OnUnavailable.RUN)
  Mono<String> runsWithoutBoth() {
    return Mono.just(work());
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  @SemaphoreGuarded(
      name = "${test.lock}",
      slots = 1,
      maxWait = LONG,
      onUnavailable = OnUnavailable.FAIL)
  String needsASlot() {
    return work();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LONG, onUnavailable = OnUnavailable.RUN)
  @SemaphoreGuarded(
      name = "${test.lock}",
      slots = 1,
      maxWait = LONG,
      onUnavailable = OnUnavailable.FAIL)
  Mono<String> needsASlotLater() {
    return Mono.just(work());
  }
}
