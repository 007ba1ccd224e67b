package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.waiting.WaitQueue.Place;
import io.amqplocks.internal.waiting.WaitQueue.Step.Action;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WaitQueueTest {

  private static final long LONG = Duration.ofSeconds(20).toNanos();

  private final AtomicLong now = new AtomicLong(1_000);
  private final AtomicInteger signals = new AtomicInteger();
  private final List<Runnable> alarms = new ArrayList<>();
  private final List<Long> alarmsAfter = new ArrayList<>();
  private final WaitQueue waitQueue = new WaitQueue(now::get, this::setAlarm);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  private void setAlarm(Runnable ring, long nanos) {
    alarms.add(ring);
    alarmsAfter.add(nanos);
  }

  private Place join(int priority) {
    return waitQueue.join(priority, false, signals::incrementAndGet);
  }

  private static Action next(Place place) {
    return place.next().action();
  }

  @Test
  void theFirstTriesAndTheNextOnlyWhenItHasLeft() {
    Place first = join(0);
    Place second = join(0);
    assertThat(next(second)).isEqualTo(Action.SLEEP);
    assertThat(next(first)).isEqualTo(Action.TRY);
    assertThat(next(first)).as("it is trying").isEqualTo(Action.SLEEP);
    first.tried(true, 0);
    assertThat(first.leave()).isNull();
    assertThat(signals.get()).isPositive();
    assertThat(next(second)).isEqualTo(Action.TRY);
  }

  @Test
  void afterABusyAnswerTheBrokerIsLeftAlone() {
    Place first = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
    assertThat(first.next().nanos()).isEqualTo(50);
    now.addAndGet(49);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
    now.addAndGet(1);
    assertThat(next(first)).isEqualTo(Action.TRY);
  }

  @Test
  void theBrokerHearsOfAHigherPriorityAtOnce() {
    Place first = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    // Also of one that comes while it is asked.
    Place higher = join(5);
    first.tried(false, 50);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
    assertThat(next(higher)).isEqualTo(Action.TRY);
    higher.tried(false, 50);
    assertThat(next(join(5))).isEqualTo(Action.SLEEP);
    assertThat(next(higher)).isEqualTo(Action.SLEEP);
    assertThat(next(join(9))).isEqualTo(Action.TRY);
  }

  @Test
  void andOfALowerOneWhenTheHigherHasLeft() {
    Place higher = join(5);
    Place lower = join(0);
    assertThat(next(higher)).isEqualTo(Action.TRY);
    higher.tried(false, 50);
    higher.leave();
    assertThat(next(lower)).isEqualTo(Action.TRY);
    lower.tried(false, 50);
    Place last = join(-1);
    last.leave();
    assertThat(next(lower)).isEqualTo(Action.SLEEP);
  }

  @Test
  void anotherThatComesFirstDoesNotAskTheBrokerAgain() {
    Place first = join(0);
    Place second = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50);
    first.leave();
    assertThat(next(second)).as("the first one's answer is good for it").isEqualTo(Action.SLEEP);
    waitQueue.released();
    assertThat(next(second)).isEqualTo(Action.TRY);
  }

  @Test
  void aReleaseDuringAnAttemptIsNotMissed() {
    Place first = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    waitQueue.released();
    first.tried(false, LONG);
    assertThat(next(first)).isEqualTo(Action.TRY);
  }

  @Test
  void aHigherPriorityComesFirstButNotIntoAnAttempt() {
    Place low = join(0);
    assertThat(next(low)).isEqualTo(Action.TRY);
    Place high = join(5);
    assertThat(next(high)).as("one asks at a time").isEqualTo(Action.SLEEP);
    low.tried(false, LONG);
    waitQueue.released();
    assertThat(next(low)).isEqualTo(Action.SLEEP);
    assertThat(next(high)).isEqualTo(Action.TRY);
  }

  @Test
  void oneThatLeavesFromTheMiddleHoldsNobodyUp() {
    Place first = join(0);
    Place second = join(0);
    Place third = join(0);
    second.leave();
    first.leave();
    assertThat(next(third)).isEqualTo(Action.TRY);
  }

  @Test
  void oneThatLeavesWakesTheNextOnlyWhenTheBrokerIsToBeAsked() {
    Place first = join(0);
    Place second = join(0);
    Place third = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50);
    signals.set(0);
    now.addAndGet(20);
    first.leave();
    assertThat(signals).as("nothing to do yet").hasValue(0);
    assertThat(alarmsAfter).containsExactly(30L);
    second.leave();
    assertThat(alarmsAfter).as("one alarm does for all").containsExactly(30L);
    now.addAndGet(30);
    alarms.get(0).run();
    assertThat(signals).hasValue(1);
    assertThat(next(third)).isEqualTo(Action.TRY);
  }

  @Test
  void theAlarmIsSetAnewOnceItRang() {
    Place first = join(0);
    Place second = join(0);
    Place third = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50);
    first.leave();
    alarms.get(0).run();
    second.leave();
    assertThat(alarmsAfter).containsExactly(50L, 50L);
    assertThat(next(third)).isEqualTo(Action.SLEEP);
  }

  @Test
  void anEarlierAlarmDoesNotWaitForALaterOne() {
    Place first = join(0);
    Place second = join(0);
    join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, LONG);
    first.leave();
    waitQueue.released();
    assertThat(next(second)).isEqualTo(Action.TRY);
    second.tried(false, 50);
    second.leave();
    assertThat(alarmsAfter).containsExactly(LONG, 50L);
  }

  @Test
  void whoLeavesFromTheMiddleOrLastSetsNoAlarm() {
    Place first = join(0);
    Place second = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50);
    second.leave();
    first.leave();
    assertThat(alarmsAfter).isEmpty();
  }

  /** Many threads come and go; one asks at a time, and nobody is forgotten. */
  @Test
  void oneAsksAtATime() throws Exception {
    WaitQueue busy =
        new WaitQueue(
            System::nanoTime,
            (ring, nanos) -> {
              throw new AssertionError("the line is always due");
            });
    AtomicInteger asking = new AtomicInteger();
    AtomicInteger had = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(
          threads.submit(
              () -> {
                for (int round = 0; round < 2000; round++) {
                  Place place = busy.join(round % 3, true, null);
                  // Every seventh gives up unless it is its turn at once.
                  if (place.await(round % 7 == 0 ? 0 : LONG).action() == Action.TRY) {
                    assertThat(asking.incrementAndGet()).isEqualTo(1);
                    LockSupport.parkNanos(1_000);
                    assertThat(asking.decrementAndGet()).isZero();
                    had.incrementAndGet();
                    place.tried(true, 0);
                  } else {
                    assertThat(round % 7).isZero();
                  }
                  assertThat(place.leave()).isNull();
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    // All but those that give up: every seventh, from the first on.
    assertThat(had.get()).isGreaterThanOrEqualTo(8 * (2000 - 286));
  }

  @Test
  void whenItIsClosedEverybodyGoes() {
    Place first = join(0);
    Place second = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    signals.set(0);
    waitQueue.close();
    assertThat(signals).hasValue(2);
    assertThat(next(second)).isEqualTo(Action.CLOSED);
    first.tried(false, LONG);
    assertThat(next(first)).isEqualTo(Action.CLOSED);
    assertThat(next(join(0))).as("one who joins later").isEqualTo(Action.CLOSED);
  }
}
