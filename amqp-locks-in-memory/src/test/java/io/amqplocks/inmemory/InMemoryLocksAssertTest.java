package io.amqplocks.inmemory;

import static io.amqplocks.inmemory.InMemoryLocksAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class InMemoryLocksAssertTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final LockId IMAGES = LockId.tokenSemaphore("images");
  private static final LockId REPORT = LockId.mutex("report");

  private final InMemoryLocks locks = InMemoryLocks.builder().timeStandsStill().build();

  @BeforeEach
  void createImages() {
    locks.admin().tokenSemaphore("images").create(5, TokenQueueType.QUORUM);
  }

  @AfterEach
  void close() {
    locks.close();
  }

  private void use(LockId lock, int permits) throws InterruptedException {
    locks.lock(lock).withPermits(permits).acquire(LONG).close();
  }

  private static void assertFails(ThrowingCallable assertion, String message) {
    assertThatThrownBy(assertion).isExactlyInstanceOf(AssertionError.class).hasMessage(message);
  }

  @Test
  void theMostHeldAtOnceIsCountedInSlots() throws Exception {
    use(IMAGES, 1);
    try (Lease two = locks.lock(IMAGES).withPermits(2).acquire(LONG);
        Lease one = locks.lock(IMAGES).acquire(LONG)) {
      assertThat(two.permits()).isGreaterThan(one.permits());
    }
    use(REPORT, 1);
    assertThat(locks)
        .hasHeldAtOnce(IMAGES, 3)
        .hasHeldAtOnce(REPORT, 1)
        .hasNeverHeldMoreThan(IMAGES, 3)
        .hasNeverHeldMoreThan(IMAGES, 4)
        .hasNeverHeldMoreThan(LockId.mutex("other"), 0);
    assertFails(
        () -> assertThat(locks).hasHeldAtOnce(IMAGES, 5),
        """
        The most that was held at once of token semaphore 'images' should be 5, and is 3
        Leases acquired so far: mutex 'report': 1, token semaphore 'images': 3""");
    assertFails(
        () -> assertThat(locks).hasHeldAtOnce(IMAGES, 2),
        """
        The most that was held at once of token semaphore 'images' should be 2, and is 3
        Leases acquired so far: mutex 'report': 1, token semaphore 'images': 3""");
    assertFails(
        () -> assertThat(locks).hasNeverHeldMoreThan(IMAGES, 2),
        """
        No more than 2 of token semaphore 'images' should have been held at once, and 3 were
        Leases acquired so far: mutex 'report': 1, token semaphore 'images': 3""");
  }

  @Test
  void aLockOfAnotherKindIsNotTheOneMeant() throws Exception {
    LockId mutex = LockId.mutex("images");
    assertFails(
        () -> assertThat(locks).hasHeldAtOnce(mutex, 1),
        """
        The most that was held at once of mutex 'images' should be 1, and is 0
        Leases acquired so far: none""");
    use(IMAGES, 1);
    assertThat(locks).hasNeverHeld(mutex);
    assertFails(
        () -> assertThat(locks).hasNeverHeld(IMAGES),
        """
        token semaphore 'images' should never have been held
        Leases acquired so far: token semaphore 'images': 1""");
  }

  @Test
  void eachLeaseThatIsHeldIsNamed() throws Exception {
    assertThat(locks).holdsNothing();
    Lease images = locks.lock(IMAGES).withPermits(2).acquire(LONG);
    locks.advance(Duration.ofMillis(1500));
    CompletableFuture<Lease> elsewhere = new CompletableFuture<>();
    Thread reporter =
        new Thread(
            () -> elsewhere.complete(locks.lock(REPORT).tryAcquire().orElseThrow()), "reporter");
    reporter.start();
    Lease report = elsewhere.get(30, TimeUnit.SECONDS);
    locks.uncertain(report);
    assertFails(
        () -> assertThat(locks).holdsNothing(),
        """
        No lease should be held, and these are:
          2 permits of token semaphore 'images', HELD for PT1.5S, acquired by thread '%s'
          slot 1 of mutex 'report', UNCERTAIN for PT0S, acquired by thread 'reporter'"""
            .formatted(Thread.currentThread().getName()));
    images.close();
    report.close();
    assertThat(locks).holdsNothing();
  }

  @Test
  void whatAStrangerHoldsIsNotCounted() {
    try (InMemoryLocks.Occupation elsewhere = locks.busy(IMAGES)) {
      assertThat(elsewhere).isNotNull();
      assertThat(locks).holdsNothing().hasNeverHeld(IMAGES).hasHeldAtOnce(IMAGES, 0);
    }
  }

  @Test
  void theOrderIsThatOfAllLeases() throws Exception {
    assertThat(locks).hasAcquiredExactly();
    use(REPORT, 1);
    use(IMAGES, 2);
    use(REPORT, 1);
    assertThat(locks)
        .hasAcquiredExactly(REPORT, IMAGES, REPORT)
        .hasAcquiredInOrder(REPORT, IMAGES, REPORT)
        .hasAcquiredInOrder(REPORT, REPORT)
        .hasAcquiredInOrder(IMAGES);
    assertFails(
        () -> assertThat(locks).hasAcquiredExactly(REPORT, IMAGES),
        """
        These locks should have been acquired, in this order:
          [mutex 'report', token semaphore 'images']
        Those acquired are:
          [mutex 'report', token semaphore 'images', mutex 'report']""");
    assertFails(
        () -> assertThat(locks).hasAcquiredInOrder(REPORT, IMAGES, IMAGES),
        """
        These locks should have been acquired in this order, perhaps with others in between:
          [mutex 'report', token semaphore 'images', token semaphore 'images']
        token semaphore 'images' was not acquired in its place. Those acquired are:
          [mutex 'report', token semaphore 'images', mutex 'report']""");
    assertThatThrownBy(() -> assertThat(locks).hasAcquiredInOrder())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("There is no order without a lock; name one or more");
  }

  @Test
  void aDescriptionGoesFirst() throws Exception {
    LockId percent = LockId.mutex("100%d");
    use(percent, 1);
    assertFails(
        () -> assertThat(locks).as("the report").hasNeverHeld(percent),
        """
        [the report] mutex '100%d' should never have been held
        Leases acquired so far: mutex '100%d': 1""");
    assertThatThrownBy(() -> assertThat((InMemoryLocks) null).holdsNothing())
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("not to be null");
  }
}
