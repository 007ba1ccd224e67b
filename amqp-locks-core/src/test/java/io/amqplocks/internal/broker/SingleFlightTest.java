package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is opened is disposed of, whenever the close comes. */
@Tag("defect-L5")
class SingleFlightTest {

  private final List<String> disposed = new CopyOnWriteArrayList<>();
  private final SingleFlight<String> flight =
      new SingleFlight<>(
          open -> true,
          disposed::add,
          (call, failure) -> new LockException.Unreachable("not opened", failure),
          Thread::new,
          Duration.ofSeconds(10),
          Ticker.SYSTEM);

  private static Call call() {
    return Call.on(LockId.mutex("m"), Duration.ofSeconds(20), Ticker.SYSTEM);
  }

  @Test
  void whatOpensAfterTheCloseIsDisposedOf() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    CompletableFuture<String> got =
        CompletableFuture.supplyAsync(
            () ->
                flight.get(
                    call(),
                    () -> {
                      begun.countDown();
                      closed.await();
                      return "connection";
                    }));
    begun.await();
    flight.close();
    closed.countDown();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(disposed).containsExactly("connection"));
    assertThatThrownBy(got::join).hasCauseInstanceOf(LockException.Unreachable.class);
  }

  /** The system lets the process start no thread for a moment. */
  @Test
  void isOpenedLaterIfNoThreadCanBeStartedNow() {
    AtomicInteger asked = new AtomicInteger();
    SingleFlight<String> starved =
        new SingleFlight<>(
            open -> true,
            disposed::add,
            (call, failure) -> new LockException.Unreachable("not opened", failure),
            task -> {
              if (asked.incrementAndGet() == 1) {
                throw new OutOfMemoryError("unable to create native thread, says the test");
              }
              return new Thread(task);
            },
            Duration.ofSeconds(10),
            Ticker.SYSTEM);
    assertThatThrownBy(() -> starved.get(call(), () -> "connection"))
        .isInstanceOf(LockException.Unreachable.class)
        .hasRootCauseInstanceOf(OutOfMemoryError.class);
    assertThat(starved.get(call(), () -> "connection")).isEqualTo("connection");
  }

  @Test
  void nothingIsOpenedAfterTheClose() {
    flight.close();
    assertThatThrownBy(() -> flight.get(call(), () -> "connection"))
        .isInstanceOf(LockException.Unreachable.class);
    assertThat(flight.ifOpen()).isEmpty();
  }
}
