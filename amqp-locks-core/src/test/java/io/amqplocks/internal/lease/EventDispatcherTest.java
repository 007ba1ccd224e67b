package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.LockListener;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EventDispatcherTest {

  private static final List<String> TOLD =
      List.of("interrupted: false", "interrupted: false", "told", "told");

  @Test
  void areDeliveredInOrderWhateverAListenerDoes() {
    List<String> heard = List.of();
    // A close waits for a second. A busy machine may stall for longer.
    for (int i = 0; i < 3 && heard.size() < 10; i++) {
      heard = heardUntilTheClose();
    }
    assertThat(heard).hasSize(10).startsWith("opened", "ended 0", "opened", "ended 1");
    assertThat(heard.get(9)).isEqualTo("ended 4");
  }

  private static List<String> heardUntilTheClose() {
    List<String> heard = new CopyOnWriteArrayList<>();
    LockListener failing =
        new LockListener() {
          @Override
          public void sessionOpened() {
            throw new IllegalStateException("a listener's own fault");
          }
        };
    LockListener writing =
        new LockListener() {
          @Override
          public void sessionOpened() {
            heard.add("opened");
          }

          @Override
          public void sessionEnded(String detail) {
            heard.add("ended " + detail);
          }
        };
    try (EventDispatcher notices =
        new EventDispatcher(List.of(failing, writing), LockListener.NO_OP, Thread::new)) {
      for (int i = 0; i < 5; i++) {
        String number = Integer.toString(i);
        notices.post(LockListener::sessionOpened);
        notices.post(listener -> listener.sessionEnded(number));
      }
    }
    return List.copyOf(heard);
  }

  /** Kotlin throws what it likes, and a listener may lack a class. */
  @ParameterizedTest
  @MethodSource("faults")
  void aListenerThatFailsKeepsNoEventFromTheOthers(Throwable fault) {
    List<String> heard = new CopyOnWriteArrayList<>();
    LockListener failing =
        new LockListener() {
          @Override
          public void sessionOpened() {
            throwAny(fault);
          }
        };
    LockListener other =
        new LockListener() {
          @Override
          public void sessionOpened() {
            heard.add("opened");
          }
        };
    try (EventDispatcher notices =
        new EventDispatcher(List.of(failing, other), LockListener.NO_OP, Thread::new)) {
      notices.post(LockListener::sessionOpened);
      await().untilAsserted(() -> assertThat(heard).containsExactly("opened"));
    }
  }

  static Stream<Throwable> faults() {
    return Stream.of(
        new IllegalStateException("a listener's own fault"),
        new NoClassDefFoundError("Missing"),
        new IOException("from Kotlin"));
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> void throwAny(Throwable fault) throws T {
    throw (T) fault;
  }

  @Test
  void aListenerThatBlocksHoldsNobodyUp() {
    CountDownLatch never = new CountDownLatch(1);
    AtomicInteger started = new AtomicInteger();
    EventDispatcher notices = new EventDispatcher(List.of(), LockListener.NO_OP, Thread::new);
    notices.run(
        () -> {
          started.incrementAndGet();
          try {
            never.await();
          } catch (InterruptedException e) {
            started.incrementAndGet();
          }
        });
    notices.run(started::incrementAndGet);
    await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(started).hasValue(1));
    notices.close();
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(started).as("interrupted").hasValue(2));
    notices.run(started::incrementAndGet);
    assertThat(started).hasValue(2);
  }

  /** The closing may come while the event is still being posted, so it is tried many times. */
  @Test
  void aListenerThatClosesIsNotInterruptedAndTheOthersAreTold() throws InterruptedException {
    for (int i = 0; i < 1_000; i++) {
      assertThat(heardByBothWhenTheFirstCloses())
          .as("try %d", i)
          .containsExactly("interrupted: false", "opened");
    }
  }

  private static List<String> heardByBothWhenTheFirstCloses() throws InterruptedException {
    AtomicReference<EventDispatcher> notices = new AtomicReference<>();
    List<String> heard = new CopyOnWriteArrayList<>();
    LockListener closing =
        new LockListener() {
          @Override
          public void sessionOpened() {
            notices.get().close();
            heard.add("interrupted: " + Thread.currentThread().isInterrupted());
          }
        };
    LockListener other =
        new LockListener() {
          @Override
          public void sessionOpened() {
            heard.add("opened");
          }
        };
    List<Thread> threads = new CopyOnWriteArrayList<>();
    notices.set(dispatcher(threads, closing, other));
    // Its thread is awake when the event comes, and so is as fast as the one that posts it.
    AtomicBoolean posting = new AtomicBoolean();
    notices.get().run(() -> spinUntil(posting));
    posting.set(true);
    notices.get().post(LockListener::sessionOpened);
    for (Thread thread : threads) {
      thread.join(30_000);
    }
    return heard;
  }

  /** The same for those who hear of a loss. */
  @Test
  void aLossIsToldToAllIfTheFirstOneToHearOfItCloses() throws InterruptedException {
    for (int i = 0; i < 1_000; i++) {
      List<String> heard = new CopyOnWriteArrayList<>();
      LockListener listener =
          new LockListener() {
            @Override
            public void sessionOpened() {
              heard.add("listener");
            }
          };
      List<Thread> threads = new CopyOnWriteArrayList<>();
      EventDispatcher notices = dispatcher(threads, listener);
      AtomicLong closing = new AtomicLong();
      AtomicBoolean posting = new AtomicBoolean();
      notices.runDependent(() -> spinUntil(posting));
      posting.set(true);
      notices.postLoss(
          () -> {
            heard.add("dependent");
            long begin = System.nanoTime();
            notices.close();
            closing.set(System.nanoTime() - begin);
          },
          () -> heard.add("observer"),
          LockListener::sessionOpened);
      for (Thread thread : threads) {
        thread.join(30_000);
      }
      // A close gives up after a second, as it must if the machine stalls for so long.
      if (Duration.ofNanos(closing.get()).toMillis() < 1_000) {
        assertThat(heard)
            .as("try %d", i)
            .containsExactlyInAnyOrder("dependent", "observer", "listener")
            .containsSubsequence("observer", "listener");
      }
    }
  }

  private static EventDispatcher dispatcher(List<Thread> threads, LockListener... listeners) {
    return new EventDispatcher(
        List.of(listeners),
        LockListener.NO_OP,
        code -> {
          Thread thread = new Thread(code);
          threads.add(thread);
          return thread;
        });
  }

  private static void spinUntil(AtomicBoolean flag) {
    while (!flag.get()) {
      Thread.onSpinWait();
    }
  }

  /** Each of the two would be the one that blocks to the other. */
  @Test
  void aListenerAndWhatDependsOnALossMayCloseAtOnce() {
    List<String> heard = List.of();
    // Each waits a second for the other. A busy machine may stall for longer.
    for (int i = 0; i < 3 && !heard.equals(TOLD); i++) {
      heard = heardIfBothClose();
    }
    assertThat(heard).isEqualTo(TOLD);
  }

  private static List<String> heardIfBothClose() {
    EventDispatcher notices = new EventDispatcher(List.of(), LockListener.NO_OP, Thread::new);
    CountDownLatch all = new CountDownLatch(3);
    List<String> heard = new CopyOnWriteArrayList<>();
    Runnable closing =
        () -> {
          all.countDown();
          try {
            all.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          notices.close();
          heard.add("interrupted: " + Thread.currentThread().isInterrupted());
        };
    notices.run(closing);
    notices.run(() -> heard.add("told"));
    notices.runDependent(closing);
    notices.runDependent(() -> heard.add("told"));
    all.countDown(); // What comes after a close is not told.
    try {
      await().until(() -> heard.size() == TOLD.size());
    } catch (ConditionTimeoutException e) {
      // The caller says what was heard.
    }
    return heard.stream().sorted().toList();
  }

  @Test
  void whatDependsOnALossDoesNotWaitForAListenerThatBlocks() {
    CountDownLatch later = new CountDownLatch(1);
    AtomicInteger told = new AtomicInteger();
    LockListener blocking =
        new LockListener() {
          @Override
          public void sessionOpened() {
            try {
              later.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
        };
    EventDispatcher notices =
        new EventDispatcher(List.of(blocking), LockListener.NO_OP, Thread::new);
    notices.post(LockListener::sessionOpened);
    notices.runDependent(told::incrementAndGet);
    await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(told).hasValue(1));
    later.countDown();
    notices.close();
  }
}
