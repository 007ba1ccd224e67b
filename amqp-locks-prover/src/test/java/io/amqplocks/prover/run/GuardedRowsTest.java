package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.amqplocks.prover.check.GuardedRowCheck;
import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.GuardedRow;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Stored;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Holders that share a real database, and no lock: as if the broker let all of them hold it. */
class GuardedRowsTest {

  private static final LockRef LOCK = new LockRef(LockRef.Kind.MUTEX, "m");

  private final GuardedRows rows = GuardedRows.start(List.of(new Plan.Slots(LOCK, 1)));

  @AfterEach
  void close() {
    rows.close();
  }

  private GuardedRow row() {
    Load load = new Load(1, true, false, 0, 0, 0);
    return GuardedRow.of(Command.work(1, LOCK, load, 0).writingTo(rows.url()));
  }

  private List<Stored> stored() {
    History history = new History();
    rows.tell(history);
    return history.stored(LOCK);
  }

  private List<Violation> violations() {
    return GuardedRowCheck.check(LOCK, stored(), List.of());
  }

  @Test
  void thereIsARowForEachSlot() {
    LockRef roomy = new LockRef(LockRef.Kind.QUORUM_TOKENS, "roomy");
    Load load = new Load(1, true, false, 0, 0, 0);
    GuardedRows many = GuardedRows.start(List.of(new Plan.Slots(roomy, 40)));
    try (GuardedRow row = GuardedRow.of(Command.work(1, roomy, load, 0).writingTo(many.url()))) {
      assertThat(row.begin(40, 7)).isTrue();
      assertThat(row.begin(41, 8)).isFalse();
    } finally {
      many.close();
    }
  }

  /** Tests of rounds may run at the same time. */
  @Test
  void twoDatabasesShareNothing() {
    GuardedRows others = GuardedRows.start(List.of(new Plan.Slots(LOCK, 1)));
    try (GuardedRow row = row()) {
      assertThat(row.begin(1, 7)).isTrue();
      assertThat(stored()).isNotEmpty();
      History history = new History();
      others.tell(history);
      assertThat(history.stored(LOCK)).isEmpty();
    } finally {
      others.close();
    }
  }

  @Test
  void whoeverWasOvertakenWritesNothingMore() {
    try (GuardedRow first = row();
        GuardedRow second = row()) {
      assertThat(first.begin(1, 5)).isTrue();
      assertThat(first.add(5)).isTrue();
      assertThat(second.begin(1, 6)).isTrue();
      assertThat(first.add(5)).isFalse();
      assertThat(first.begin(1, 5)).isFalse();
      assertThat(second.add(6)).isTrue();
      assertThat(first.begin(2, 5)).as("the row of another slot").isTrue();
    }
    assertThat(stored())
        .filteredOn(each -> each.slot() == 1)
        .extracting(Stored::token, Stored::total, Stored::writes)
        .containsExactly(
            tuple(5L, 0L, 0L), tuple(5L, 1L, 1L), tuple(6L, 1L, 1L), tuple(6L, 2L, 2L));
    assertThat(violations()).isEmpty();
  }

  /** As if the number of a token were read at each use, and not when the lease begins. */
  @Test
  void aTokenThatGrowsInTheHandsOfAHolderLosesAWrite() {
    try (GuardedRow first = row();
        GuardedRow second = row()) {
      assertThat(first.begin(1, 5)).isTrue();
      assertThat(second.begin(1, 6)).isTrue();
      assertThat(second.add(6)).isTrue();
      assertThat(first.add(7)).isTrue();
    }
    assertThat(violations())
        .extracting(Violation::promise)
        .containsOnly(Violation.Promise.GUARDED_ROW);
  }

  @Test
  void twoHoldersWithoutATokenLoseAWrite() {
    try (GuardedRow first = row();
        GuardedRow second = row()) {
      assertThat(first.begin(1, 0)).isTrue();
      assertThat(second.begin(1, 0)).isTrue();
      assertThat(first.add(0)).isTrue();
      assertThat(second.add(0)).isTrue();
    }
    assertThat(violations()).hasSize(1);
  }

  @Test
  void noWriteIsLostThatManyHoldersAtOnceHaveMade() throws Exception {
    AtomicLong tokens = new AtomicLong();
    List<Future<Integer>> holders = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(4);
    for (int i = 0; i < 4; i++) {
      holders.add(threads.submit(() -> hold(tokens)));
    }
    long taken = 0;
    for (Future<Integer> each : holders) {
      taken += each.get(60, TimeUnit.SECONDS);
    }
    threads.shutdown();
    List<Stored> stored = stored();
    assertThat(stored.get(stored.size() - 1).total()).isEqualTo(taken).isPositive();
    assertThat(violations()).isEmpty();
  }

  /** Returns how many additions the row has taken. */
  private int hold(AtomicLong tokens) {
    int taken = 0;
    try (GuardedRow row = row()) {
      for (int i = 0; i < 200; i++) {
        long token = tokens.incrementAndGet();
        if (row.begin(1, token)) {
          taken += row.add(token) ? 1 : 0;
          taken += row.add(token) ? 1 : 0;
        }
      }
    }
    return taken;
  }
}
