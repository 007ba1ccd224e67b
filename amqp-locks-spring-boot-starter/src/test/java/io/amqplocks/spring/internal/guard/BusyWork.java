package io.amqplocks.spring.internal.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods of every busy policy and every kind of result. */
class BusyWork {
  private static final String LITTLE = "${test.little:50ms}";

  static final AtomicInteger ran = new AtomicInteger();

  private static String ran() {
    ran.incrementAndGet();
    return "work";
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LITTLE)
  void waits() {
    ran();
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
  void throwing() {
    ran();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = LITTLE)
  CompletableFuture<String> waitsLater() {
    return CompletableFuture.completedFuture(ran());
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
  Mono<String> throwsLater() {
    return Mono.just(ran());
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  void skipVoid() {
    ran();
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = LITTLE)
  @Nullable String skipText() {
    return ran();
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  Optional<String> skipOptional() {
    return Optional.of(ran());
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  OptionalInt skipNumber() {
    return OptionalInt.of(ran().length());
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  CompletableFuture<String> skipFuture() {
    return CompletableFuture.completedFuture(ran());
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = LITTLE)
  CompletionStage<Optional<String>> skipStage() {
    return CompletableFuture.completedFuture(Optional.of(ran()));
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  Mono<String> skipMono() {
    return Mono.just(ran());
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP, maxWait = LITTLE)
  Flux<String> skipFlux() {
    return Flux.just(ran(), "more");
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "instead")
  String fallback(String argument) {
    return ran() + argument;
  }

  @SuppressWarnings("UnusedMethod") // by its name
  private String instead(String argument, LockException busy) {
    return "instead of " + argument + ": " + busy.getClass().getSimpleName();
  }

  @MutexGuarded(
      name = "${test.lock}",
      onBusy = OnBusy.FALLBACK,
      maxWait = LITTLE,
      fallbackMethod = "insteadFuture")
  CompletableFuture<String> fallbackFuture() {
    return CompletableFuture.completedFuture(ran());
  }

  static CompletableFuture<String> insteadFuture() {
    return CompletableFuture.completedFuture("instead");
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadMono")
  Mono<String> fallbackMono() {
    return Mono.just(ran());
  }

  Mono<String> insteadMono(Exception busy) {
    return Mono.just("instead");
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadFlux")
  Flux<String> fallbackFlux() {
    return Flux.just(ran());
  }

  Flux<String> insteadFlux() {
    return Flux.just("in", "stead");
  }

  @MutexGuarded(name = "before-${test.lock}")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "whatIsHeld")
  int second(Supplier<Integer> held) {
    return -held.get();
  }

  int whatIsHeld(Supplier<Integer> held) {
    return held.get();
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "failing")
  String fails() throws IOException {
    return ran();
  }

  String failing() throws IOException {
    throw new FileNotFoundException("from the fallback");
  }
}
