package io.amqplocks.spring.aspectj.woven;

import io.amqplocks.lock.Lease;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.annotation.Async;
import reactor.core.publisher.Mono;

/** What only AspectJ can guard. Each method says whether its mutex was held. */
class Work {

  @Retention(RetentionPolicy.RUNTIME)
  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  @interface Migration {}

  static final AtomicInteger INSIDE = new AtomicInteger();
  static final CountDownLatch END = new CountDownLatch(1);

  String callPrivate() {
    return this.ofPrivate();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  private String ofPrivate() {
    return Outside.held();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  final String ofFinal() {
    return Outside.held();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  static String ofStatic() {
    return Outside.held();
  }

  String callReader() {
    return this.reader() + " " + this.writer();
  }

  @ReadGuarded(name = "${test.lock}", maxWait = "30s")
  private String reader() {
    return Outside.readOrWritten();
  }

  @WriteGuarded(name = "${test.lock}", maxWait = "30s")
  private String writer() {
    return Outside.readOrWritten();
  }

  @Migration
  String ofOtherAnnotation() {
    return Outside.held();
  }

  String callInjected() {
    return this.injected(null);
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s", fenced = true)
  private String injected(@Nullable Lease lease) {
    return lease == null ? "no lease" : "token " + lease.fencingToken();
  }

  String callKeyed() {
    return this.keyed("one") + " " + Outside.held();
  }

  @MutexGuarded(name = "${test.lock}", key = "#id", maxWait = "30s")
  private String keyed(String id) {
    return Outside.held(":" + id);
  }

  CompletableFuture<String> callStage() {
    return this.stage();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  private CompletableFuture<String> stage() {
    return CompletableFuture.supplyAsync(Outside::held);
  }

  Mono<String> callMono() {
    return this.mono();
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  private Mono<String> mono() {
    return Mono.fromSupplier(Outside::held);
  }

  @Async
  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  public CompletableFuture<String> async() {
    String thread = Thread.currentThread().getName().startsWith("async-") ? "async " : "same ";
    return CompletableFuture.completedFuture(thread + Outside.held());
  }

  CompletableFuture<String> callAsync() {
    return this.async();
  }

  String callBusy() {
    return this.busy();
  }

  @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "other")
  private String busy() {
    return "not busy";
  }

  String other() {
    return "fallback";
  }

  void uploadAll() {
    this.upload();
  }

  @SemaphoreGuarded(name = "${test.lock}", slots = 2)
  private void upload() {
    INSIDE.incrementAndGet();
    try {
      if (!END.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("Nobody ended it");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      INSIDE.decrementAndGet();
    }
  }
}
