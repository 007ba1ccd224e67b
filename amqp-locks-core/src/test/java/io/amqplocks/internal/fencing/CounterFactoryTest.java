package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.fencing.ModelCounters.Crash;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Creators of counters that die before or after each of their effects, against a model of the
 * broker whose readers draw at every moment.
 */
class CounterFactoryTest {

  private static final LockId LOCK = LockId.mutex("l");
  private static final FenceCounter COUNTER = FenceCounter.of(LOCK, 1);
  private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");

  /** More than any creator takes. */
  private static final int MOST = 100;

  private static Call call() {
    return Call.on(LOCK, Duration.ofSeconds(1), Ticker.SYSTEM);
  }

  /** The clocks of two processes differ. */
  private static CounterFactory factory(Duration ahead) {
    return new CounterFactory(new QueueNames("p."), Clock.fixed(NOW.plus(ahead), ZoneOffset.UTC));
  }

  /** As a client's first draw does it: a counter that is in use is not made again. */
  private static void begin(ModelCounters broker, Duration ahead) {
    if (broker.newest() == 0) {
      int generation = factory(ahead).begin(call(), broker, COUNTER, broker::epoch);
      assertThat(generation).isEqualTo(broker.newest());
    }
  }

  private static void renew(ModelCounters broker, Duration ahead, long above) {
    long unused = factory(ahead).renew(call(), broker, COUNTER, above, broker::epoch);
  }

  /** Whether it died. */
  private static boolean dies(ModelCounters broker, int after, Consumer<ModelCounters> step) {
    broker.crashPoints = after;
    try {
      step.accept(broker);
      return false;
    } catch (Crash crash) {
      return true;
    } finally {
      broker.crashPoints = Integer.MAX_VALUE;
    }
  }

  /**
   * Two creators die, the first one with a clock that is an hour ahead. Whoever comes next finds a
   * counter or makes one, and no reader is ever led to one that is empty, deleted, or given up.
   */
  @Test
  void creatorsThatDieNeverCloseAFence() {
    boolean died = true;
    for (int first = 0; died; first++) {
      assertThat(first).isLessThan(MOST);
      died = false;
      boolean secondDied = true;
      for (int second = 0; secondDied; second++) {
        ModelCounters broker = new ModelCounters();
        died |= dies(broker, first, model -> begin(model, Duration.ofHours(1)));
        secondDied = dies(broker, second, model -> begin(model, Duration.ZERO));
        assertUsableIfVisible(broker, first, second);
        begin(broker, Duration.ofMinutes(-5));
        assertThat(broker.isOpen()).as("after %s and %s", first, second).isTrue();
      }
    }
  }

  private static void assertUsableIfVisible(ModelCounters broker, int first, int second) {
    if (broker.newest() > 0) {
      assertThat(broker.isOpen()).as("visible after %s and %s", first, second).isTrue();
    }
  }

  /** What creators gave up is no counter for ever. */
  @Test
  void aCreatorDeletesWhatTheDeadLeft() {
    ModelCounters broker = new ModelCounters();
    for (int i = 0; i < 3; i++) {
      // A trial takes six points; then its counter is filled and not in use.
      assertThat(dies(broker, 10, model -> begin(model, Duration.ZERO))).isTrue();
    }
    assertThat(broker.newest()).isZero();
    begin(broker, Duration.ZERO);
    assertThat(broker.newest()).isEqualTo(4);
    assertThat(broker.counters()).containsExactly(broker.counter(4));
  }

  /**
   * Administrators die, whose clocks are behind that of the creator. A fence that one of them has
   * closed is open after the next, and its numbers go on rising.
   */
  @Test
  void renewalsThatDieNeverTurnNumbersBack() {
    boolean died = true;
    for (int first = 0; died; first++) {
      assertThat(first).isLessThan(MOST);
      died = false;
      boolean secondDied = true;
      for (int second = 0; secondDied; second++) {
        ModelCounters broker = new ModelCounters();
        begin(broker, Duration.ofHours(1));
        died |= dies(broker, first, model -> renew(model, Duration.ZERO, 0));
        secondDied = dies(broker, second, model -> renew(model, Duration.ofMinutes(-5), 0));
        // A client never makes a counter where there was one.
        begin(broker, Duration.ZERO);
        renew(broker, Duration.ofMinutes(-10), 0);
        assertThat(broker.isOpen()).as("after %s and %s", first, second).isTrue();
      }
    }
  }

  /** A counter that was renewed so often, and lost the epoch queues of those generations. */
  private static ModelCounters afterLosses(int renewals, int from, int to) {
    ModelCounters broker = new ModelCounters();
    begin(broker, Duration.ofHours(1));
    for (int i = 0; i < renewals; i++) {
      renew(broker, Duration.ofHours(1), 0);
    }
    IntStream.rangeClosed(from, to).forEach(broker::loseEpoch);
    return broker;
  }

  /** Trials of creators that died stay behind, and are never read. */
  private static void assertOneCounterIsOpen(ModelCounters broker, String when) {
    assertThat(broker.isOpen()).as(when).isTrue();
    assertThat(broker.counters())
        .as(when)
        .filteredOn(counter -> !counter.contains(".try-"))
        .containsExactly(broker.counter(broker.newest()));
  }

  /**
   * After so many renewals the epoch queues of some generations are lost, and creators die, with
   * clocks that are behind. Clients that remember a counter and those that do not go on with
   * numbers that rise, from one counter.
   */
  @ParameterizedTest
  @CsvSource({
    "0, 1, 1", "1, 1, 1", "1, 1, 2", "1, 2, 2", "2, 1, 1", "2, 2, 2", "3, 1, 1", "5, 1, 6"
  })
  void lostEpochQueuesNeverTurnNumbersBack(int renewals, int from, int to) {
    boolean died = true;
    for (int first = 0; died; first++) {
      assertThat(first).isLessThan(MOST);
      died = false;
      boolean secondDied = true;
      for (int second = 0; secondDied; second++) {
        ModelCounters broker = afterLosses(renewals, from, to);
        died |= dies(broker, first, model -> begin(model, Duration.ZERO));
        secondDied = dies(broker, second, model -> begin(model, Duration.ofMinutes(-5)));
        begin(broker, Duration.ofMinutes(-10));
        if (!broker.isOpen()) {
          // Its last epoch queue was lost, so its newest counter is one that was deleted.
          assertThat(from).isGreaterThan(1);
          renew(broker, Duration.ofMinutes(-10), 0);
        }
        assertOneCounterIsOpen(broker, "after %s and %s".formatted(first, second));
      }
    }
  }

  /** The same, where an administrator comes first. */
  @ParameterizedTest
  @CsvSource({
    "0, 1, 1", "1, 1, 1", "1, 1, 2", "1, 2, 2", "2, 1, 1", "2, 3, 3", "3, 1, 1", "5, 1, 6"
  })
  void aRenewalAfterTheLossOfEpochQueuesNeverTurnsNumbersBack(int renewals, int from, int to) {
    boolean died = true;
    for (int first = 0; died; first++) {
      assertThat(first).isLessThan(MOST);
      ModelCounters broker = afterLosses(renewals, from, to);
      died = dies(broker, first, model -> renew(model, Duration.ZERO, 0));
      renew(broker, Duration.ofMinutes(-5), 0);
      assertOneCounterIsOpen(broker, "after " + first);
    }
  }

  /** Others draw from it without a pause, so its epoch cannot be read. Clocks agree here. */
  @Test
  void aBusyCounterWhoseEpochQueueIsLostIsNotInUseBesideItsSuccessor() {
    boolean died = true;
    for (int first = 0; died; first++) {
      assertThat(first).isLessThan(MOST);
      ModelCounters broker = new ModelCounters();
      begin(broker, Duration.ZERO);
      broker.loseEpoch(1);
      broker.isBusy = true;
      died = dies(broker, first, model -> begin(model, Duration.ZERO));
      begin(broker, Duration.ZERO);
      assertThat(broker.isOpen()).as("after %s", first).isTrue();
    }
  }
}
