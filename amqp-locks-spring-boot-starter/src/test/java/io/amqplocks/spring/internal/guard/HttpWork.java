package io.amqplocks.spring.internal.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A controller with every busy policy and every kind of result. */
@RestController
class HttpWork {

  /** As JSON. */
  record Done(String text) {}

  private static final Done WORK = new Done("work");
  private static final Done INSTEAD = new Done("instead");

  @ExceptionHandler
  @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
  Done busy(LockException.AcquireTimeout busy) {
    return new Done("busy");
  }

  @GetMapping("/wait/plain")
  @MutexGuarded(name = "${test.lock}")
  Done waitPlain() {
    return WORK;
  }

  @GetMapping("/wait/future")
  @MutexGuarded(name = "${test.lock}")
  CompletableFuture<Done> waitFuture() {
    return CompletableFuture.completedFuture(WORK);
  }

  @GetMapping("/wait/mono")
  @MutexGuarded(name = "${test.lock}")
  Mono<Done> waitMono() {
    return Mono.just(WORK);
  }

  @GetMapping("/wait/flux")
  @MutexGuarded(name = "${test.lock}")
  Flux<Done> waitFlux() {
    return Flux.just(WORK, WORK);
  }

  @GetMapping("/wait-briefly/plain")
  @MutexGuarded(name = "${test.lock}", maxWait = "50ms")
  Done waitBrieflyPlain() {
    return WORK;
  }

  @GetMapping("/wait-briefly/future")
  @MutexGuarded(name = "${test.lock}", maxWait = "50ms")
  CompletableFuture<Done> waitBrieflyFuture() {
    return waitFuture();
  }

  @GetMapping("/wait-briefly/mono")
  @MutexGuarded(name = "${test.lock}", maxWait = "50ms")
  Mono<Done> waitBrieflyMono() {
    return waitMono();
  }

  @GetMapping("/wait-briefly/flux")
  @MutexGuarded(name = "${test.lock}", maxWait = "50ms")
  Flux<Done> waitBrieflyFlux() {
    return waitFlux();
  }

  @GetMapping("/throw/plain")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
  Done throwPlain() {
    return WORK;
  }

  @GetMapping("/throw/future")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
  CompletableFuture<Done> throwFuture() {
    return waitFuture();
  }

  @GetMapping("/throw/mono")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
  Mono<Done> throwMono() {
    return waitMono();
  }

  @GetMapping("/throw/flux")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
  Flux<Done> throwFlux() {
    return waitFlux();
  }

  @GetMapping("/skip/plain")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  @Nullable Done skipPlain() {
    return WORK;
  }

  @GetMapping("/skip/future")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  CompletableFuture<Done> skipFuture() {
    return waitFuture();
  }

  @GetMapping("/skip/mono")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  Mono<Done> skipMono() {
    return waitMono();
  }

  @GetMapping("/skip/flux")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
  Flux<Done> skipFlux() {
    return waitFlux();
  }

  @GetMapping("/fallback/plain")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadPlain")
  Done fallbackPlain() {
    return WORK;
  }

  Done insteadPlain() {
    return INSTEAD;
  }

  @GetMapping("/fallback/future")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadFuture")
  CompletableFuture<Done> fallbackFuture() {
    return waitFuture();
  }

  CompletableFuture<Done> insteadFuture() {
    return CompletableFuture.completedFuture(INSTEAD);
  }

  @GetMapping("/fallback/mono")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadMono")
  Mono<Done> fallbackMono() {
    return waitMono();
  }

  Mono<Done> insteadMono() {
    return Mono.just(INSTEAD);
  }

  @GetMapping("/fallback/flux")
  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "insteadFlux")
  Flux<Done> fallbackFlux() {
    return waitFlux();
  }

  Flux<Done> insteadFlux() {
    return Flux.fromIterable(List.of(INSTEAD));
  }

  @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
  @MutexGuarded(name = "${test.lock}")
  Flux<Long> stream() {
    // Or it would end where a tick meets a client that has not taken the last one yet.
    return Flux.interval(Duration.ofMillis(20)).onBackpressureDrop();
  }
}
