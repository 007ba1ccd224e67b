package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.SemaphoreGuarded;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Mono;

/** Methods whose annotations are errors at startup. */
class WrongMethods {
  @SemaphoreGuarded(name = "images", slots = 3)
  void otherSlots() {}

  @SemaphoreGuarded(name = "images", slots = -1)
  void negativeSlots() {}

  @SemaphoreGuarded(name = "", slots = 1)
  void emptyName() {}

  @MutexGuarded(name = "m", maxWait = "soon")
  void unreadableWait() {}

  @MutexGuarded(name = "m", maxWait = "300")
  void waitWithoutUnit() {}

  @MutexGuarded(name = "m", holdAtLeast = "30")
  void holdWithoutUnit() {}

  @MutexGuarded(name = "m", holdAtMost = "60")
  void limitWithoutUnit() {}

  @MutexGuarded(name = "m", maxWait = "-1s")
  void negativeWait() {}

  @MutexGuarded(name = "m", holdAtLeast = "-1s")
  void negativeHold() {}

  @MutexGuarded(name = "m", holdAtMost = "0s")
  void noTimeToHold() {}

  @SemaphoreGuarded(name = "images", holdAtMost = "-1m")
  void negativeLimit() {}

  @MutexGuarded(name = "m", holdAtLeast = "5s", holdAtMost = "5s")
  void limitedTooSoon() {}

  @SuppressWarnings("UnusedMethod") // by reflection
  @MutexGuarded(name = "m")
  private void hidden() {}

  @MutexGuarded(name = "m")
  static void ofTheClass() {}

  @MutexGuarded(name = "m")
  final void unproxied() {}

  @MutexGuarded(name = "m", onBusy = OnBusy.THROW, maxWait = "1s")
  void waitsAndThrows() {}

  @MutexGuarded(name = "m", onBusy = OnBusy.SKIP)
  int primitive() {
    return 1;
  }

  @MutexGuarded(name = "m", onBusy = OnBusy.FALLBACK)
  void noFallback() {}

  @MutexGuarded(name = "m", onUnavailable = OnUnavailable.FALLBACK)
  void noFallbackForOutages() {}

  @MutexGuarded(
      name = "m",
      onBusy = OnBusy.FALLBACK,
      onUnavailable = OnUnavailable.FALLBACK,
      fallbackMethod = "whenBusy")
  void fallbackForBusyOnly(int size) {}

  void whenBusy(int size, LockException.AcquireTimeout e) {}

  @MutexGuarded(name = "m", onUnavailable = OnUnavailable.SKIP)
  int primitiveInAnOutage() {
    return 1;
  }

  @MutexGuarded(name = "m", onUnavailable = OnUnavailable.RUN)
  void noToken(@Nullable FencingToken token) {}

  @MutexGuarded(name = "m", fenced = true, onUnavailable = OnUnavailable.RUN)
  void fencedForNothing() {}

  @MutexGuarded(name = "m", fallbackMethod = "small")
  void needlessFallback() {}

  @MutexGuarded(name = "m", onBusy = OnBusy.FALLBACK, fallbackMethod = "nowhere")
  void missingFallback() {}

  @MutexGuarded(name = "m", onBusy = OnBusy.FALLBACK, fallbackMethod = "small")
  String badFallback(int size) {
    return "of size " + size;
  }

  String small(long size) {
    return "small " + size;
  }

  int small(int size) {
    return size;
  }

  String small(int size, IllegalStateException e) {
    return "small " + size + e;
  }

  String small(int size, LockException.Closed e) {
    return "small " + size + e;
  }

  @MutexGuarded(name = "m", onBusy = OnBusy.FALLBACK, fallbackMethod = "throwing")
  String harmless() {
    return "harmless";
  }

  String throwing() throws IOException {
    throw new IOException();
  }

  @MutexGuarded(name = "m")
  @MutexGuarded(name = "m", onBusy = OnBusy.SKIP)
  void twice() {}

  @MutexGuarded(name = "m", key = "#one", onBusy = OnBusy.SKIP)
  @MutexGuarded(name = "m", key = "#other")
  void twoPolicies(String one, String other) {}

  @MutexGuarded(name = "m", key = "#one", onLost = OnLost.FAIL)
  @MutexGuarded(name = "m", key = "#other")
  void twoLosses(String one, String other) {}

  @MutexGuarded(name = "m", key = "#one", maxWait = "1s")
  @MutexGuarded(name = "m", key = "#other")
  void twoWaits(String one, String other) {}

  @MutexGuarded(name = "m")
  @MutexGuarded(name = "n")
  void whoseToken(@Nullable FencingToken token) {}

  @MutexGuarded(name = "m")
  void twoTokens(@Nullable FencingToken one, @Nullable FencingToken two) {}

  @MutexGuarded(name = "m", onLost = OnLost.INTERRUPT)
  CompletableFuture<String> nobodyToInterrupt() {
    return new CompletableFuture<>();
  }

  @MutexGuarded(name = "m", releaseAfter = ReleaseAfter.TRANSACTION)
  CompletableFuture<String> noTransaction() {
    return new CompletableFuture<>();
  }

  @MutexGuarded(name = "m", releaseAfter = ReleaseAfter.TRANSACTION)
  Mono<String> noTransactionEither() {
    return Mono.empty();
  }

  @Async
  @MutexGuarded(name = "m", releaseAfter = ReleaseAfter.TRANSACTION)
  void noTransactionThere() {}

  @MutexGuarded(name = "m", key = "#one", releaseAfter = ReleaseAfter.TRANSACTION)
  @MutexGuarded(name = "m", key = "#two")
  void twoReleases(String one, String two) {}

  @MutexGuarded(name = "m", key = "#order.id")
  void unknownParameter(int id) {}

  @MutexGuarded(name = "m", key = "#id.")
  void unreadableKey(int id) {}

  @MutexGuarded(name = "m:n", key = "#id")
  void colon(int id) {}

  @SemaphoreGuarded(name = "s", permits = 0)
  void noPermit() {}

  @SemaphoreGuarded(name = "s", permits = 2, permitsExpression = "#size")
  void twoNumbers(int size) {}

  @SemaphoreGuarded(name = "s", permitsExpression = "#sise")
  void unknownSize(int size) {}

  @SemaphoreGuarded(name = "s", key = "#one", permits = 2)
  @SemaphoreGuarded(name = "s", key = "#other", permits = 3)
  void twoWeights(String one, String other) {}

  @MutexGuarded(name = "m")
  @Nullable Future<String> future() {
    return null;
  }

  @MutexGuarded(name = "m")
  CompletableFuture<Stream<String>> futureStream() {
    return new CompletableFuture<>();
  }

  @MutexGuarded(name = "m")
  Flow.@Nullable Publisher<String> flow() {
    return null;
  }
}
