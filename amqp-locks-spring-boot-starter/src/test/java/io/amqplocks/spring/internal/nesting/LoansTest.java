package io.amqplocks.spring.internal.nesting;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.spring.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoansTest {

  private static CompletableFuture<Boolean> borrow(Loans loans, int permits) {
    return requireNonNull(loans.borrow(permits));
  }

  @Test
  void firstComeFirstServed() {
    Loans loans = new Loans(2);
    assertThat(borrow(loans, 1)).isDone();
    CompletableFuture<Boolean> two = borrow(loans, 2);
    CompletableFuture<Boolean> one = borrow(loans, 1);
    assertThat(two).isNotDone();
    assertThat(one).as("does not overtake").isNotDone();
    loans.giveBack(1);
    await().until(two::isDone);
    assertThat(one).isNotDone();
    loans.giveBack(2);
    await().until(one::isDone);
  }

  @Test
  void whoGivesUpDoesNotKeepTheOthers() {
    Loans loans = new Loans(2);
    assertThat(borrow(loans, 1)).isDone();
    CompletableFuture<Boolean> two = borrow(loans, 2);
    CompletableFuture<Boolean> one = borrow(loans, 1);
    two.cancel(false);
    await().until(one::isDone);
  }

  @Test
  void theEndComesWhenAllAreBack() {
    Loans loans = new Loans(1);
    AtomicInteger ends = new AtomicInteger();
    assertThat(borrow(loans, 1)).isDone();
    CompletableFuture<Boolean> second = borrow(loans, 1);
    loans.end(ends::incrementAndGet);
    loans.giveBack(1);
    await().until(second::isDone);
    assertThat(ends).hasValue(0);
    loans.giveBack(1);
    assertThat(ends).hasValue(1);
    assertThat(loans.borrow(1)).isNull();
  }

  /** With callers that give up at any moment; else a permit would be lost, or be there twice. */
  @Test
  void noPermitIsLostOrDoubled() throws Exception {
    Loans loans = new Loans(3);
    AtomicInteger lent = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger ends = new AtomicInteger();
    List<Callable<?>> tasks = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      tasks.add(
          () -> {
            for (int turn = 0; turn < 2_000; turn++) {
              int permits = 1 + ThreadLocalRandom.current().nextInt(3);
              CompletableFuture<Boolean> granted = borrow(loans, permits);
              if (turn % 3 == 0 && granted.cancel(false)) {
                continue;
              }
              granted.get(60, TimeUnit.SECONDS);
              most.accumulateAndGet(lent.addAndGet(permits), Math::max);
              lent.addAndGet(-permits);
              loans.giveBack(permits);
            }
            return null;
          });
    }
    Workers.run(tasks);
    assertThat(most.get()).isBetween(1, 3);
    loans.end(ends::incrementAndGet);
    await().until(() -> ends.get() == 1);
  }
}
