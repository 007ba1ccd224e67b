package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an administrator changes while slots are held. */
class InMemoryAdminTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final InMemoryLocks locks = InMemoryLocks.builder().timeStandsStill().build();
  private final TokenSemaphoreAdmin tokens = locks.admin().tokenSemaphore("images");
  private final AmqpLock images = locks.tokenSemaphore("images");
  private final SlotSemaphoreAdmin slots = locks.admin().slotSemaphore("files");
  private final AmqpLock files = locks.slotSemaphore("files");

  @AfterEach
  void close() {
    locks.close();
  }

  /** Returns the answer, which comes after the change and not before it. */
  private static boolean answerAfter(Callable<Boolean> wait, Runnable change) throws Exception {
    FutureTask<Boolean> waiter = new FutureTask<>(wait);
    new Thread(waiter).start();
    await().during(Duration.ofMillis(100)).until(() -> !waiter.isDone());
    change.run();
    return waiter.get(30, TimeUnit.SECONDS);
  }

  @Test
  void tokensThatAreToBeWithdrawnCountUntilTheyAreReleased() throws Exception {
    tokens.create(3, TokenQueueType.QUORUM);
    Lease one = images.acquire(LONG);
    Lease two = images.acquire(LONG);
    assertThat(tokens.resize(1)).isEqualTo(new SlotChange(3, 1));
    assertThat(tokens.status()).isEqualTo(new TokenStatus(1, 2, 0, 2, 1, 0));
    assertThat(two.verify()).isEqualTo(LeaseState.HELD);
    assertThat(tokens.awaitWithdrawn(Duration.ZERO)).isFalse();
    assertThat(answerAfter(() -> tokens.awaitWithdrawn(LONG), one::close)).isTrue();
    // The other lease has the only slot, although it has another number.
    assertThat(images.tryAcquire()).isEmpty();
    two.close();
    assertThat(images.tryAcquire()).isPresent();
  }

  @Test
  void newSlotsAreForThoseWhoWait() throws Exception {
    tokens.create(1, TokenQueueType.QUORUM);
    slots.create(1);
    for (AmqpLock lock : Set.of(images, files)) {
      Lease first = lock.acquire(LONG);
      CompletableFuture<Lease> waiter = lock.acquireAsync(LONG);
      assertThat(locks.waiting()).containsEntry(lock.id(), 1);
      SlotChange unused = locks.admin().semaphore(lock.id()).resize(2);
      assertThat(locks.waiting()).doesNotContainKey(lock.id());
      waiter.get(30, TimeUnit.SECONDS).close();
      first.close();
    }
  }

  @Test
  void aTokenOfADestroyedSemaphoreIsNoTokenOfTheNext() throws Exception {
    tokens.create(1, TokenQueueType.QUORUM);
    Lease old = images.acquire(LONG);
    tokens.destroy();
    tokens.create(1, TokenQueueType.QUORUM);
    Lease next = images.tryAcquire().orElseThrow();
    assertThat(old.verify()).isEqualTo(LeaseState.LOST);
    assertThat(old.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.REVOKED);
    assertThat(next.verify()).isEqualTo(LeaseState.HELD);
    assertThat(images.tryAcquire()).isEmpty();
  }

  @Test
  void removedSlotsDrainOneByOne() throws Exception {
    slots.create(3);
    Lease one = files.acquire(LONG);
    Lease two = files.acquire(LONG);
    assertThat(slots.holders()).containsExactly(1, 2);
    assertThat(slots.remove(2)).isEqualTo(new SlotChange(3, 1));
    assertThat(slots.awaitDrained(Set.of(3), Duration.ZERO)).isTrue();
    assertThat(slots.awaitDrained(Set.of(2, 3), Duration.ZERO)).isFalse();
    assertThat(answerAfter(() -> slots.awaitDrained(Set.of(2), LONG), two::close)).isTrue();
    assertThat(slots.holders()).containsExactly(1);
    assertThat(one.verify()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void aSlotIsTakenWhenThatSlotIsTaken() throws Exception {
    slots.create(2);
    Lease one = files.acquire(LONG);
    assertThat(one.slot()).isEqualTo(1);
    assertThat(slots.awaitTaken(1, Duration.ZERO)).isTrue();
    assertThat(slots.awaitTaken(2, Duration.ZERO)).isFalse();
    assertThat(
            answerAfter(
                () -> slots.awaitTaken(2, LONG), () -> assertThat(files.tryAcquire()).isPresent()))
        .isTrue();
  }

  @Test
  void nobodyHoldsADisabledMutex() {
    PersistentMutexAdmin mutex = locks.admin().persistentMutex("orders");
    mutex.enable();
    try (InMemoryLocks.Occupation elsewhere = locks.busy(locks.persistentMutex("orders").id())) {
      assertThat(mutex.isHeld()).as("by %s", elsewhere).isTrue();
      mutex.disable();
      assertThat(mutex.isHeld()).isFalse();
      assertThat(mutex.isEnabled()).isFalse();
    }
  }

  @Test
  void twoOthersHoldUntilBothHaveEnded() {
    AmqpLock mutex = locks.mutex("orders");
    InMemoryLocks.Occupation one = locks.busy(mutex.id());
    InMemoryLocks.Occupation two = locks.busy(mutex.id());
    one.close();
    assertThat(mutex.tryAcquire()).isEmpty();
    two.close();
    assertThat(mutex.tryAcquire()).isPresent();
  }
}
