package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.lease.BrokerGrant;
import io.amqplocks.internal.lease.BrokerGrants;
import io.amqplocks.internal.waiting.Step.Action;
import io.amqplocks.internal.waiting.WaitQueue.Place;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WaitQueueTest {

  private static final long LONG = Duration.ofSeconds(20).toNanos();

  private final AtomicLong now = new AtomicLong(1_000);
  private final AtomicInteger signals = new AtomicInteger();
  private final List<Runnable> alarms = new ArrayList<>();
  private final List<Long> alarmsAfter = new ArrayList<>();
  private final BrokerGrant slot = BrokerGrants.of(false);
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
    return waitQueue.join(
        new Variant(false, priority, true, 1, false, null), signals::incrementAndGet);
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
    first.tried(true, 0, null);
    assertThat(first.leave()).isEmpty();
    assertThat(signals.get()).isPositive();
    assertThat(next(second)).isEqualTo(Action.TRY);
  }

  @Test
  void afterABusyAnswerTheBrokerIsLeftAlone() {
    Place first = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50, null);
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
    first.tried(false, 50, null);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
    assertThat(next(higher)).isEqualTo(Action.TRY);
    higher.tried(false, 50, null);
    assertThat(next(join(5))).isEqualTo(Action.SLEEP);
    assertThat(next(higher)).isEqualTo(Action.SLEEP);
    assertThat(next(join(9))).isEqualTo(Action.TRY);
  }

  @Test
  void andOfALowerOneWhenTheHigherHasLeft() {
    Place higher = join(5);
    Place lower = join(0);
    assertThat(next(higher)).isEqualTo(Action.TRY);
    higher.tried(false, 50, null);
    higher.leave();
    assertThat(next(lower)).isEqualTo(Action.TRY);
    lower.tried(false, 50, null);
    Place last = join(-1);
    last.leave();
    assertThat(next(lower)).isEqualTo(Action.SLEEP);
  }

  /** What was asked for a fenced lease is given up for another. So it takes its place at once. */
  @Test
  void andOfOneThatWantsNoFencedLease() {
    Place fenced =
        waitQueue.join(new Variant(true, 0, true, 1, false, null), signals::incrementAndGet);
    Place plain = join(0);
    assertThat(next(fenced)).isEqualTo(Action.TRY);
    fenced.tried(false, 50, null);
    fenced.leave();
    assertThat(next(plain)).isEqualTo(Action.TRY);
  }

  @Test
  void anotherThatComesFirstDoesNotAskTheBrokerAgain() {
    Place first = join(0);
    Place second = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50, null);
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
    first.tried(false, LONG, null);
    assertThat(next(first)).isEqualTo(Action.TRY);
  }

  @Test
  void aHigherPriorityComesFirstButNotIntoAnAttempt() {
    Place low = join(0);
    assertThat(next(low)).isEqualTo(Action.TRY);
    Place high = join(5);
    assertThat(next(high)).as("one asks at a time").isEqualTo(Action.SLEEP);
    low.tried(false, LONG, null);
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
    first.tried(false, 50, null);
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
    first.tried(false, 50, null);
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
    first.tried(false, LONG, null);
    first.leave();
    waitQueue.released();
    assertThat(next(second)).isEqualTo(Action.TRY);
    second.tried(false, 50, null);
    second.leave();
    assertThat(alarmsAfter).containsExactly(LONG, 50L);
  }

  @Test
  void whoLeavesFromTheMiddleOrLastSetsNoAlarm() {
    Place first = join(0);
    Place second = join(0);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50, null);
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
                  Place place =
                      busy.join(
                          new Variant(false, round % 3, round % 2 == 0, 1, false, null), null);
                  // Every seventh gives up unless it is its turn at once.
                  if (place.await(round % 7 == 0 ? 0 : LONG).action() == Action.TRY) {
                    assertThat(asking.incrementAndGet()).isEqualTo(1);
                    LockSupport.parkNanos(1_000);
                    assertThat(asking.decrementAndGet()).isZero();
                    had.incrementAndGet();
                    place.tried(true, 0, null);
                  } else {
                    assertThat(round % 7).isZero();
                  }
                  assertThat(place.leave()).isEmpty();
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(180, TimeUnit.SECONDS);
    }
    // All but those that give up: every seventh, from the first on.
    assertThat(had.get()).isGreaterThanOrEqualTo(8 * (2000 - 286));
  }

  private Place joinUnfairly() {
    return waitQueue.join(new Variant(false, 0, false, 1, false, null), signals::incrementAndGet);
  }

  /** One that has asked the broker in vain. */
  private Place asked(Place place) {
    assertThat(next(place)).isEqualTo(Action.TRY);
    place.tried(false, LONG, null);
    signals.set(0);
    return place;
  }

  @Test
  void aSlotIsHandedToTheFirst() {
    Place first = asked(join(0));
    Place second = join(0);
    Place unfair = joinUnfairly();
    assertThat(waitQueue.offer(slot)).isTrue();
    assertThat(signals).hasValue(1);
    assertThat(next(unfair)).isEqualTo(Action.SLEEP);
    assertThat(next(second)).isEqualTo(Action.SLEEP);
    assertThat(first.next().slot()).isEqualTo(slot);
    assertThat(first.leave()).isEmpty();
  }

  @Test
  void aSlotIsNotForWhoCannotUseIt() {
    asked(join(0));
    assertThat(waitQueue.offer(BrokerGrants.of(true))).as("the others must be asked").isFalse();
  }

  @Test
  void aSlotForTheUnfencedIsNotKeptFromThemByAFencedOneOfHigherPriority() {
    Place first = asked(joinUnfairly());
    assertThat(waitQueue.offer(slot)).isTrue();
    Place fenced =
        waitQueue.join(new Variant(true, 9, true, 1, false, null), signals::incrementAndGet);
    assertThat(next(fenced)).isEqualTo(Action.TRY);
    assertThat(first.next().slot()).isEqualTo(slot);
    fenced.tried(false, LONG, null);
    assertThat(fenced.leave()).isEmpty();
    assertThat(first.leave()).isEmpty();
  }

  @Test
  void aSlotThatOneOfHigherPriorityCanUseIsForThatOne() {
    Place first = asked(joinUnfairly());
    assertThat(waitQueue.offer(slot)).isTrue();
    Place higher = join(9);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
    assertThat(higher.next().slot()).isEqualTo(slot);
  }

  @Test
  void aSlotThatWasHandedToOneThatLeavesGoesWithIt() {
    Place first = asked(join(0));
    waitQueue.offer(slot);
    assertThat(first.leave()).containsExactly(slot);
  }

  @Test
  void amongTheUnfairWhoComesFirstTakesIt() {
    Place first = asked(joinUnfairly());
    assertThat(waitQueue.offer(slot)).isTrue();
    assertThat(signals).hasValue(1);
    Place later = joinUnfairly();
    assertThat(later.next().slot()).isEqualTo(slot);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
    assertThat(later.leave()).isEmpty();
    assertThat(first.leave()).isEmpty();
  }

  @Test
  void whoIsFairDoesNotTakeItBeforeTheFirst() {
    Place first = asked(joinUnfairly());
    waitQueue.offer(slot);
    Place fair = join(0);
    assertThat(next(fair)).isEqualTo(Action.SLEEP);
    assertThat(first.next().slot()).isEqualTo(slot);
  }

  @Test
  void whoIsUnfairWaitsForTenthOfASecondAtMostWhileOthersComeFirst() {
    Place first = asked(joinUnfairly());
    now.addAndGet(WaitQueue.BARGING_NANOS - 1);
    waitQueue.offer(slot);
    assertThat(joinUnfairly().next().slot()).isEqualTo(slot);
    now.addAndGet(1);
    waitQueue.offer(slot);
    assertThat(next(joinUnfairly())).isEqualTo(Action.SLEEP);
    assertThat(first.next().slot()).isEqualTo(slot);
  }

  @Test
  void aSecondSlotIsHandedToTheFirstWhileOneIsLeftForAnybody() {
    Place first = asked(joinUnfairly());
    BrokerGrant another = BrokerGrants.of(false);
    waitQueue.offer(slot);
    waitQueue.offer(another);
    assertThat(joinUnfairly().next().slot()).isEqualTo(slot);
    assertThat(first.next().slot()).isEqualTo(another);
  }

  @Test
  void aSlotThatIsLeftForAnybodyIsNotForgotten() {
    Place first = asked(joinUnfairly());
    Place second = join(0);
    waitQueue.offer(slot);
    signals.set(0);
    assertThat(first.leave()).as("the other one can use it").isEmpty();
    assertThat(signals).hasPositiveValue();
    assertThat(second.leave()).containsExactly(slot);
    assertThat(next(joinUnfairly())).as("it is gone").isEqualTo(Action.TRY);
  }

  @Test
  void whoLeavesWithASlotTakesTheUnclaimedOneAlongIfNobodyElseIsThere() {
    Place first = asked(joinUnfairly());
    BrokerGrant another = BrokerGrants.of(false);
    waitQueue.offer(slot);
    waitQueue.offer(another);
    assertThat(first.leave()).containsExactlyInAnyOrder(slot, another);
  }

  @Test
  void nobodyOvertakesAHigherPriority() {
    Place high =
        asked(
            waitQueue.join(new Variant(false, 9, false, 1, false, null), signals::incrementAndGet));
    waitQueue.offer(slot);
    assertThat(next(joinUnfairly())).isEqualTo(Action.SLEEP);
    assertThat(high.next().slot()).isEqualTo(slot);
  }

  @Test
  void anUnclaimedSlotWakesAnotherWhileTheFirstAsksTheBroker() {
    Place first = joinUnfairly();
    assertThat(next(first)).isEqualTo(Action.TRY);
    AtomicInteger told = new AtomicInteger();
    Place second =
        waitQueue.join(new Variant(false, 0, false, 1, false, null), told::incrementAndGet);
    waitQueue.offer(slot);
    assertThat(told).hasValue(1);
    assertThat(second.next().slot()).isEqualTo(slot);
    first.tried(false, LONG, null);
    assertThat(next(first)).isEqualTo(Action.SLEEP);
  }

  @Test
  void aSlotThatIsLeftForAnybodyGoesWithTheLastThatCanUseIt() {
    Place first = asked(joinUnfairly());
    waitQueue.join(new Variant(true, 0, false, 1, false, null), signals::incrementAndGet);
    waitQueue.offer(slot);
    assertThat(first.leave()).containsExactly(slot);
  }

  @Test
  void aSlotThatIsLeftForAnybodyGoesBackWhenAllIsClosed() {
    Place first = asked(joinUnfairly());
    Place second = joinUnfairly();
    waitQueue.offer(slot);
    waitQueue.close();
    assertThat(next(second)).isEqualTo(Action.CLOSED);
    assertThat(second.leave()).containsExactly(slot);
    assertThat(first.leave()).isEmpty();
  }

  /** Slots that threads take from each other, and none is lost or had twice. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void slotsAreNeitherLostNorTakenTwice(int unfairUpTo) throws Exception {
    WaitQueue busy = new WaitQueue(System::nanoTime, (ring, nanos) -> {});
    AtomicInteger free = new AtomicInteger(2);
    Set<BrokerGrant> held = ConcurrentHashMap.newKeySet();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      all.add(
          threads.submit(
              () -> {
                for (int round = 0; round < 3000; round++) {
                  boolean fair = round % 3 >= unfairUpTo;
                  Place place =
                      busy.join(
                          new Variant(false, round % 5 == 0 ? 1 : 0, fair, 1, false, null), null);
                  BrokerGrant mine = null;
                  // Every seventh gives up unless it is its turn at once.
                  long end = System.nanoTime() + (round % 7 == 0 ? 0 : LONG);
                  do {
                    Step step = place.await(Math.max(0, end - System.nanoTime()));
                    mine = step.slot();
                    if (step.action() == Action.TRY) {
                      if (free.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                        mine = BrokerGrants.of(false);
                      }
                      place.tried(mine != null, LONG, null);
                    }
                  } while (mine == null && end - System.nanoTime() > 0);
                  for (BrokerGrant unclaimed : place.leave()) {
                    release(busy, unclaimed, free);
                  }
                  if (mine == null) {
                    assertThat(round % 7).as("it waited in vain").isZero();
                  } else {
                    assertThat(held.add(mine)).isTrue();
                    assertThat(held).hasSizeLessThanOrEqualTo(2);
                    assertThat(held.remove(mine)).isTrue();
                    release(busy, mine, free);
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(180, TimeUnit.SECONDS);
    }
    assertThat(free).hasValue(2);
  }

  private static void release(WaitQueue to, BrokerGrant slot, AtomicInteger free) {
    if (!to.offer(slot)) {
      free.incrementAndGet();
      to.released();
    }
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
    first.tried(false, LONG, null);
    assertThat(next(first)).isEqualTo(Action.CLOSED);
    assertThat(next(join(0))).as("one who joins later").isEqualTo(Action.CLOSED);
  }

  @Test
  void anOutageIsToldAtOnceToThoseWhoDoNotWaitForTheBroker() {
    LockException outage = new LockException.Unreachable("gone", null);
    Place patient = join(0);
    Place impatient =
        waitQueue.join(new Variant(false, 0, true, 1, true, null), signals::incrementAndGet);
    assertThat(next(patient)).isEqualTo(Action.TRY);
    assertThat(next(impatient)).isEqualTo(Action.SLEEP);
    int before = signals.get();
    patient.tried(false, LONG, outage);
    assertThat(signals).hasValueGreaterThan(before);
    assertThat(impatient.next().outage()).isSameAs(outage);
    assertThat(next(patient)).isEqualTo(Action.SLEEP);

    waitQueue.released();
    assertThat(next(patient)).isEqualTo(Action.TRY);
    patient.tried(false, LONG, null);
    assertThat(next(impatient)).as("it is over").isEqualTo(Action.SLEEP);
  }

  @Test
  void thoseWhoDoNotWaitFindOutThatAnOutageIsOver() {
    LockException outage = new LockException.Unreachable("gone", null);
    Variant impatient = new Variant(false, 0, true, 1, true, null);
    Place first = waitQueue.join(impatient, signals::incrementAndGet);
    Place second = waitQueue.join(impatient, signals::incrementAndGet);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, 50, outage);
    assertThat(next(first)).as("within the pause").isEqualTo(Action.FAIL);
    assertThat(next(second)).isEqualTo(Action.FAIL);
    now.addAndGet(50);
    assertThat(next(second)).as("not the first").isEqualTo(Action.FAIL);
    assertThat(next(first)).isEqualTo(Action.TRY);
    first.tried(false, LONG, null);
    assertThat(next(second)).isEqualTo(Action.SLEEP);
  }

  @Test
  void nobodyHasHeardAnythingWhileTheFirstOneIsStillAsking() {
    Place first = join(0);
    Place second = join(0);
    assertThat(second.isUnheard()).as("the first one is about to ask").isTrue();
    assertThat(next(first)).isEqualTo(Action.TRY);
    assertThat(second.isUnheard()).isTrue();
    first.tried(false, 50, new LockException.Unreachable("gone", null));
    assertThat(second.isUnheard()).as("nobody asks").isFalse();
    now.addAndGet(50);
    assertThat(next(first)).isEqualTo(Action.TRY);
    assertThat(second.isUnheard()).as("an outage was no answer").isTrue();
    first.tried(false, 50, null);
    now.addAndGet(50);
    assertThat(next(first)).isEqualTo(Action.TRY);
    assertThat(second.isUnheard()).as("the lock was busy").isFalse();
  }
}
