package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Methods that read or write under a read-write lock. */
@BrokerTest
class ReadWriteGuardTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;
  @AutoClose private final AmqpLocks stranger;

  ReadWriteGuardTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    stranger = onBroker.stranger();
  }

  /** Calls whatever it is told to. All of its methods read, except those that write. */
  @ReadGuarded(name = "${test.lock}")
  static class Prices {
    public <T> T read(Callable<T> work) throws Exception {
      return work.call();
    }

    public <T> CompletableFuture<T> readStage(Supplier<CompletableFuture<T>> work) {
      return work.get();
    }

    public <T> Mono<T> readMono(Supplier<Mono<T>> work) {
      return work.get();
    }

    @WriteGuarded(name = "${test.lock}")
    public <T> T write(Callable<T> work) throws Exception {
      return work.call();
    }

    @WriteGuarded(name = "${test.lock}")
    public <T> CompletableFuture<T> writeStage(Supplier<CompletableFuture<T>> work) {
      return work.get();
    }

    @WriteGuarded(name = "${test.lock}")
    public <T> Mono<T> writeMono(Supplier<Mono<T>> work) {
      return work.get();
    }
  }

  static class Documents {
    @ReadGuarded(name = "${test.lock}", key = "#from")
    @WriteGuarded(name = "${test.lock}", key = "#to")
    <T> T copy(String from, String to, Callable<T> work) throws Exception {
      return work.call();
    }

    @ReadGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    Optional<String> ifNobodyWrites() {
      return Optional.of("read");
    }

    @ReadGuarded(name = "${test.lock}")
    FencingToken read(@Nullable FencingToken token) {
      return requireNonNull(token);
    }

    @WriteGuarded(name = "${test.lock}")
    FencingToken write(@Nullable FencingToken token) {
      return requireNonNull(token);
    }
  }

  private interface Body {
    void of(Prices prices, Documents documents, LockTemplate template, AmqpLocks locks)
        throws Exception;
  }

  private void run(Body test) {
    onBroker
        .application()
        .withBean(Prices.class)
        .withBean(Documents.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              test.of(
                  context.getBean(Prices.class),
                  context.getBean(Documents.class),
                  context.getBean(LockTemplate.class),
                  locks);
              assertThat(LeaseScope.current()).as("left behind in the thread").isNull();
              assertThat(locks.status().held()).isZero();
            });
  }

  private AmqpReadWriteLock elsewhere() {
    return stranger.readWriteLock(onBroker.name());
  }

  private static List<LockId> held(AmqpLocks locks) {
    return locks.leases().stream().map(LeaseSnapshot::lock).toList();
  }

  @Test
  void readersReadAtOnceAndAWriterWritesAlone() {
    run(
        (prices, documents, template, locks) -> {
          prices.read(
              () -> {
                assertThat(elsewhere().writeLock().tryAcquire()).isEmpty();
                elsewhere().readLock().acquire(LONG).close();
                return CompletableFuture.supplyAsync(() -> quietly(() -> prices.read(() -> "too")))
                    .get(30, TimeUnit.SECONDS);
              });
          prices.write(
              () -> {
                assertThat(elsewhere().writeLock().tryAcquire()).isEmpty();
                assertThat(elsewhere().readLock().tryAcquire()).isEmpty();
                return "done";
              });
          elsewhere().writeLock().acquire(LONG).close();
        });
  }

  private static <T> T quietly(Callable<T> call) {
    try {
      return call.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aReaderThatDoesNotWaitIsSkippedWhileSomebodyWrites() {
    run(
        (prices, documents, template, locks) -> {
          try (var writer = elsewhere().writeLock().acquire(LONG)) {
            assertThat(documents.ifNobodyWrites()).as("beside %s", writer).isEmpty();
          }
          try (var reader = elsewhere().readLock().acquire(LONG)) {
            // It does not wait until the broker has read what the writer gave back.
            await()
                .untilAsserted(
                    () ->
                        assertThat(documents.ifNobodyWrites())
                            .as("beside %s", reader)
                            .contains("read"));
          }
        });
  }

  @Test
  void aMonoAndAStageHoldItUntilTheyComplete() {
    run(
        (prices, documents, template, locks) -> {
          LockId reader = LockId.readLock(onBroker.name());
          LockId writer = LockId.writeLock(onBroker.name());
          assertThat(prices.readMono(() -> Mono.fromSupplier(() -> held(locks))).block(LONG))
              .containsExactly(reader);
          assertThat(prices.writeMono(() -> Mono.fromSupplier(() -> held(locks))).block(LONG))
              .containsExactly(writer);
          CompletableFuture<String> end = new CompletableFuture<>();
          CompletableFuture<String> begun = new CompletableFuture<>();
          CompletableFuture<String> stage =
              prices.writeStage(
                  () -> {
                    begun.complete("begun");
                    return end;
                  });
          assertThat(begun).succeedsWithin(LONG);
          assertThat(elsewhere().readLock().tryAcquire()).isEmpty();
          end.complete("done");
          assertThat(stage).succeedsWithin(LONG);
        });
  }

  /** In the same order in all processes, whichever of the two a call reads. */
  @Test
  void twoKeysOfOneNameAreReadAndWrittenWithoutDeadlocks() {
    run(
        (prices, documents, template, locks) -> {
          String name = onBroker.name();
          assertThat(documents.copy("b", "a", () -> held(locks)))
              .containsExactlyInAnyOrder(
                  LockId.readLock(name + ":b"), LockId.writeLock(name + ":a"));
          assertThat(documents.copy("a", "a", () -> held(locks)))
              .containsExactly(LockId.writeLock(name + ":a"));
          CompletableFuture<?> there = CompletableFuture.runAsync(() -> copy(documents, "a", "b"));
          CompletableFuture<?> back = CompletableFuture.runAsync(() -> copy(documents, "b", "a"));
          assertThat(CompletableFuture.allOf(there, back)).succeedsWithin(LONG);
        });
  }

  private static void copy(Documents documents, String from, String to) {
    for (int i = 0; i < 15; i++) {
      quietly(() -> documents.copy(from, to, () -> "copied"));
    }
  }

  @Test
  void theTokenOfALaterWriterIsAboveThoseOfReaders() {
    run(
        (prices, documents, template, locks) -> {
          FencingToken read = documents.read(null);
          FencingToken written = documents.write(null);
          assertThat(written.number()).isGreaterThan(read.number());
        });
  }

  @Test
  void nestedCallsJoinAndAWriterMayRead() {
    run(
        (prices, documents, template, locks) -> {
          LockId reader = LockId.readLock(onBroker.name());
          LockId writer = LockId.writeLock(onBroker.name());
          Callable<List<LockId>> held = () -> held(locks);
          assertThat(prices.read(() -> prices.read(held))).containsExactly(reader);
          assertThat(prices.write(() -> prices.write(held))).containsExactly(writer);
          assertThat(prices.write(() -> prices.read(held))).containsExactly(writer);
          assertThat(prices.write(() -> prices.read(() -> prices.write(held))))
              .containsExactly(writer);
          assertThat(prices.write(() -> template.readLock(onBroker.name()).execute(held::call)))
              .containsExactly(writer);
          assertThat(
                  prices
                      .writeMono(() -> prices.readMono(() -> Mono.fromSupplier(() -> held(locks))))
                      .block(LONG))
              .containsExactly(writer);
        });
  }

  @Test
  void aReaderThatWantsToWriteIsToldAtOnce() {
    run(
        (prices, documents, template, locks) -> {
          String name = onBroker.name();
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(() -> prices.read(() -> prices.write(() -> "never")))
              .withMessageContaining("wants the write lock '" + name + "'")
              .withMessageContaining("let the outer call acquire the write lock")
              .satisfies(e -> assertThat(e.lock()).contains(LockId.readLock(name)));
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(
                  () ->
                      template
                          .readLock(name)
                          .execute(() -> template.writeLock(name).execute(() -> "never")));
          assertThatExceptionOfType(LockException.Invalid.class)
              .isThrownBy(
                  () ->
                      prices
                          .readMono(() -> prices.writeMono(() -> Mono.just("never")))
                          .block(LONG));
          // Another lock of the name before the colon is another lock.
          assertThat(template.readLock(name, "1").execute(() -> prices.write(() -> "yes")))
              .isEqualTo("yes");
        });
  }

  /** Under a mutex they would work one at a time, and this would never end. */
  @Test
  void readersThatJoinTheStageOfAReaderReadAtOnce() {
    run(
        (prices, documents, template, locks) -> {
          CompletableFuture<String> met = new CompletableFuture<>();
          CompletableFuture<Integer> held =
              prices.readStage(
                  () -> {
                    CompletableFuture<String> first = prices.readStage(() -> met);
                    CompletableFuture<String> second =
                        prices.readStage(
                            () -> {
                              met.complete("met");
                              return met;
                            });
                    return first.thenCombine(second, (one, other) -> locks.status().held());
                  });
          assertThat(held).succeedsWithin(LONG).isEqualTo(1);
          CompletableFuture<String> refused =
              prices.readStage(
                  () -> prices.writeStage(() -> CompletableFuture.completedFuture("never")));
          assertThat(refused)
              .failsWithin(LONG)
              .withThrowableOfType(ExecutionException.class)
              .withCauseInstanceOf(LockException.Invalid.class);
        });
  }

  @Test
  void publishersThatJoinAPublisherShareItsLease() {
    run(
        (prices, documents, template, locks) -> {
          Mono<Integer> reader =
              prices.readMono(
                  () -> {
                    Sinks.One<String> met = Sinks.one();
                    Mono<String> first = prices.readMono(met::asMono);
                    Mono<String> second =
                        prices.readMono(
                            () ->
                                Mono.fromSupplier(
                                    () -> {
                                      met.tryEmitValue("met");
                                      return "met";
                                    }));
                    return Mono.zip(first, second).map(both -> locks.status().held());
                  });
          assertThat(reader.block(LONG)).as("both at once").isEqualTo(1);

          AtomicInteger inside = new AtomicInteger();
          Mono<Integer> alone =
              Mono.defer(() -> Mono.just(inside.incrementAndGet()))
                  .delayElement(Duration.ofMillis(100))
                  // Before the next one can see it; doFinally comes after that.
                  .doOnNext(one -> inside.decrementAndGet());
          Mono<Integer> writer =
              prices.writeMono(
                  () ->
                      Mono.zip(prices.readMono(() -> alone), prices.readMono(() -> alone))
                          .map(both -> Math.max(both.getT1(), both.getT2())));
          assertThat(writer.block(LONG)).as("one at a time").isEqualTo(1);
        });
  }

  @Test
  void readersThatJoinTheStageOfAWriterReadOneAtATime() {
    run(
        (prices, documents, template, locks) -> {
          CompletableFuture<String> end = new CompletableFuture<>();
          CompletableFuture<Boolean> after =
              prices.writeStage(
                  () -> {
                    CompletableFuture<String> first =
                        prices.readStage(
                            () -> end.completeOnTimeout("done", 500, TimeUnit.MILLISECONDS));
                    return prices
                        .readStage(() -> CompletableFuture.completedFuture(end.isDone()))
                        .thenCombine(first, (done, result) -> done);
                  });
          assertThat(after).succeedsWithin(LONG).isEqualTo(true);
        });
  }

  @Test
  void eachSideHasItsMeters() {
    onBroker
        .application()
        .withBean(Prices.class)
        .run(
            context -> {
              Prices prices = context.getBean(Prices.class);
              MeterRegistry meters = context.getBean(MeterRegistry.class);
              double whileReading = prices.read(() -> heldOf(meters, "read lock"));
              assertThat(whileReading).isEqualTo(1);
              double whileWriting = prices.write(() -> heldOf(meters, "write lock"));
              assertThat(whileWriting).isEqualTo(1);
              assertThat(heldOf(meters, "write lock")).isZero();
            });
  }

  private double heldOf(MeterRegistry meters, String type) {
    return meters
        .get("amqp.locks.held")
        .tag("amqp.locks.name", onBroker.name())
        .tag("amqp.locks.type", type)
        .gauge()
        .value();
  }

  static class BothSides {
    @ReadGuarded(name = "prices")
    @WriteGuarded(name = "prices")
    void work() {}
  }

  static class TokenOfReader {
    @ReadGuarded(name = "prices", key = "#p0", fenced = true)
    @WriteGuarded(name = "prices", key = "#p1")
    void work(String from, String to) {}
  }

  static class TwoPolicies {
    @ReadGuarded(name = "prices", key = "#p0", onBusy = OnBusy.SKIP)
    @WriteGuarded(name = "prices", key = "#p1")
    void work(String from, String to) {}
  }

  @Test
  void whatWouldWaitForItselfStopsTheStart() {
    refused(BothSides.class, "the read lock 'prices' and the write lock 'prices', and would wait");
    refused(TokenOfReader.class, "say fenced = true there, and not at @ReadGuarded");
    refused(TwoPolicies.class, "the read lock 'prices' and the write lock 'prices' by two keys");
  }

  private void refused(Class<?> bean, String message) {
    onBroker
        .application()
        .withBean(bean)
        .run(
            context ->
                assertThat(context)
                    .hasFailed()
                    .getFailure()
                    .hasMessageContaining(bean.getName() + ".work()")
                    .hasMessageContaining(message));
  }
}
