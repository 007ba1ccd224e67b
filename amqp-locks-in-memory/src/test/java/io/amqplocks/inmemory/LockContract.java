package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What locks in memory and locks at a broker have in common. */
// More than 300 lines: one list of what both kinds of locks do.
abstract class LockContract {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final String name = "contract-" + UUID.randomUUID();
  private final List<String> events = new CopyOnWriteArrayList<>();
  private AmqpLocks locks;

  /** What the listener waits for when it is told of a lease. */
  private volatile CountDownLatch mayGoOn = new CountDownLatch(0);

  /** What the listener does when it is told of a loss. */
  private volatile Runnable whenLost = () -> {};

  abstract AmqpLocks create(LockListener listener);

  /** What keeps the tokens of semaphores. */
  TokenQueueType tokenQueueType() {
    return TokenQueueType.QUORUM;
  }

  @BeforeEach
  void open() {
    locks =
        create(
            new LockListener() {
              @Override
              public void acquired(Lease lease, Duration waited) {
                events.add("acquired");
                awaitQuietly(mayGoOn);
              }

              @Override
              public void notAcquired(LockId lock, Outcome outcome, Duration waited) {
                events.add("" + outcome);
              }

              @Override
              public void released(Lease lease, Duration held) {
                events.add("released");
              }

              @Override
              public void lost(Lease lease, LossReason reason, Duration held) {
                events.add("lost " + reason.cause());
                whenLost.run();
              }

              @Override
              public void sessionOpened() {
                events.add("opened");
              }

              @Override
              public void sessionEnded(String detail) {
                events.add("ended: " + detail);
              }
            });
  }

  @AfterEach
  void close() {
    locks.close();
  }

  private AmqpLock tokens(int slots) {
    locks.admin().tokenSemaphore(name).create(slots, tokenQueueType());
    return locks.tokenSemaphore(name);
  }

  private static Lease get(CompletableFuture<Lease> future) throws Exception {
    return future.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  private CompletableFuture<Lease> waiting(AmqpLock lock) {
    int before = locks.waiting().getOrDefault(lock.id(), 0);
    CompletableFuture<Lease> future = lock.acquireAsync(LONG);
    await().until(() -> locks.waiting().getOrDefault(lock.id(), 0) > before);
    return future;
  }

  /** The kinds that have a number of holders. A read lock has none. */
  static Stream<LockKind> kinds() {
    return Arrays.stream(LockKind.values()).filter(kind -> kind != LockKind.READ_LOCK);
  }

  /** The lock of that kind. A semaphore has so many slots. */
  private AmqpLock make(LockKind kind, int slots) {
    switch (kind) {
      case PERSISTENT_MUTEX -> locks.admin().persistentMutex(name).enable();
      case SLOT_SEMAPHORE -> locks.admin().slotSemaphore(name).create(slots);
      case TOKEN_SEMAPHORE -> locks.admin().tokenSemaphore(name).create(slots, tokenQueueType());
      default -> assertThat(kind.family()).isNotEqualTo(LockKind.Family.SEMAPHORE);
    }
    return lock(kind);
  }

  private AmqpLock lock(LockKind kind) {
    return locks.lock(new LockId(kind, LockId.mutex(name).name()));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void admitsAsManyAsThereAreSlots(LockKind kind) throws Exception {
    AmqpLock lock = make(kind, 2);
    int slots = kind.family() == LockKind.Family.SEMAPHORE ? 2 : 1;
    List<Lease> held = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      held.add(lock.acquire(LONG));
    }
    assertThat(lock.tryAcquire()).isEmpty();
    assertThat(locks.leases()).hasSize(slots);
    assertThat(locks.status().held()).isEqualTo(slots);
    assertThat(held).allMatch(lease -> lease.state() == LeaseState.HELD);
    assertThat(held).allMatch(lease -> lease.verify() == LeaseState.HELD);
    held.forEach(Lease::close);
    assertThat(held).allMatch(lease -> lease.state() == LeaseState.RELEASED);
    try (Lease again = lock.acquire(LONG)) {
      assertThat(again.slot()).isBetween(1, slots);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void servesWaitersInTheOrderOfArrival(LockKind kind) throws Exception {
    AmqpLock lock = make(kind, 1);
    Lease first = lock.acquire(LONG);
    CompletableFuture<Lease> second = waiting(lock);
    CompletableFuture<Lease> third = waiting(lock);
    first.close();
    Lease next = get(second);
    assertThat(locks.waiting()).containsEntry(lock.id(), 1);
    assertThat(third).isNotDone();
    next.close();
    get(third).close();
  }

  @ParameterizedTest
  @EnumSource(names = {"FENCED_MUTEX", "TOKEN_SEMAPHORE"})
  void servesHigherPrioritiesFirst(LockKind kind) throws Exception {
    AmqpLock lock = make(kind, 1);
    Lease first = lock.acquire(LONG);
    CompletableFuture<Lease> low = waiting(lock);
    CompletableFuture<Lease> high = waiting(lock.withPriority(5));
    // By then it is the one that waits at the broker.
    await().atMost(LONG).during(Duration.ofSeconds(2)).until(() -> !low.isDone() && !high.isDone());
    first.close();
    Lease next = get(high);
    assertThat(locks.waiting()).containsEntry(lock.id(), 1);
    assertThat(low).isNotDone();
    next.close();
    get(low).close();
  }

  private int holders() {
    return locks.admin().readWriteLock(name).holders();
  }

  @Test
  void readersShare() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    List<Lease> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(lock.readLock().tryAcquire().orElseThrow());
    }
    readers.add(lock.readLock().acquire(LONG));
    assertThat(readers)
        .allSatisfy(
            lease -> {
              assertThat(lease.lock()).isEqualTo(LockId.readLock(name));
              assertThat(lease.slot()).isEqualTo(1);
              assertThat(lease.permits()).isEqualTo(1);
              assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
            });
    assertThat(holders()).isEqualTo(4);
    readers.remove(0).close();
    assertThat(lock.writeLock().tryAcquire()).isEmpty();
    readers.forEach(Lease::close);
    await().untilAsserted(() -> assertThat(holders()).isZero());
    lock.writeLock().acquire(LONG).close();
  }

  @Test
  void aWriterExcludesReadersAndWriters() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    Lease writer = lock.writeLock().acquire(LONG);
    assertThat(writer.lock()).isEqualTo(LockId.writeLock(name));
    assertThat(lock.readLock().tryAcquire()).isEmpty();
    assertThat(lock.writeLock().tryAcquire()).isEmpty();
    assertThat(holders()).isEqualTo(1);
    assertThat(writer.verify()).isEqualTo(LeaseState.HELD);
    writer.close();
    lock.readLock().acquire(LONG).close();
  }

  /** Another name is another lock, and so is another kind. */
  @Test
  void onlyTheSidesOfOneReadWriteLockExcludeEachOther() throws Exception {
    try (Lease writer = locks.readWriteLock(name).writeLock().acquire(LONG);
        Lease other = locks.readWriteLock(name + "-2").readLock().acquire(LONG);
        Lease mutex = locks.mutex(name).acquire(LONG)) {
      assertThat(List.of(writer, other, mutex))
          .allMatch(lease -> lease.verify() == LeaseState.HELD);
    }
  }

  /** Returns the call when a reader that comes later has to wait for it. */
  private CompletableFuture<Lease> waitingWriter(AmqpReadWriteLock lock) {
    CompletableFuture<Lease> writer = waiting(lock.writeLock());
    await()
        .until(
            () -> {
              Optional<Lease> reader = lock.readLock().tryAcquire();
              reader.ifPresent(Lease::close);
              return reader.isEmpty();
            });
    return writer;
  }

  @Test
  void readersAndWritersAreServedInTheOrderOfArrival() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    Lease first = lock.readLock().acquire(LONG);
    CompletableFuture<Lease> writer = waitingWriter(lock);
    CompletableFuture<Lease> reader = waiting(lock.readLock());
    assertThat(locks.waiting())
        .containsEntry(lock.writeLock().id(), 1)
        .containsEntry(lock.readLock().id(), 1);
    await().during(Duration.ofMillis(100)).until(() -> !writer.isDone() && !reader.isDone());
    first.close();
    Lease written = get(writer);
    await().during(Duration.ofMillis(100)).until(() -> !reader.isDone());
    assertThat(holders()).isEqualTo(1);
    written.close();
    get(reader).close();
  }

  @Test
  void waitingReadersAreServedTogether() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    Lease writer = lock.writeLock().acquire(LONG);
    List<CompletableFuture<Lease>> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(waiting(lock.readLock()));
    }
    writer.close();
    List<Lease> together = new ArrayList<>();
    for (CompletableFuture<Lease> reader : readers) {
      together.add(get(reader));
    }
    assertThat(holders()).isEqualTo(3);
    together.forEach(Lease::close);
  }

  @Test
  void readersDoNotTryWhileAWriterWaits() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    Lease first = lock.readLock().acquire(LONG);
    lock.readLock().tryAcquire().orElseThrow().close();
    CompletableFuture<Lease> writer = waitingWriter(lock);
    assertThat(lock.readLock().tryAcquire()).isEmpty();
    assertThat(lock.writeLock().tryAcquire()).isEmpty();
    assertThat(writer.cancel(false)).isTrue();
    // The writer has left the line, so that readers share again.
    lock.readLock().acquire(LONG).close();
    assertThat(first.verify()).isEqualTo(LeaseState.HELD);
    first.close();
  }

  @Test
  void noSideIsTurnedIntoTheOther() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    try (Lease reader = lock.readLock().acquire(LONG)) {
      assertThatThrownBy(() -> lock.writeLock().acquire(Duration.ofMillis(50)))
          .isInstanceOf(LockException.AcquireTimeout.class)
          .hasMessage(
              "The write lock '%s' did not come free within 50 ms, the time that this call would"
                  + " wait",
              name);
      assertThat(reader.verify()).isEqualTo(LeaseState.HELD);
    }
    try (Lease writer = lock.writeLock().acquire(LONG)) {
      assertThatThrownBy(() -> lock.readLock().acquire(Duration.ofMillis(50)))
          .isInstanceOf(LockException.AcquireTimeout.class)
          .hasMessage(
              "The read lock '%s' did not come free within 50 ms, the time that this call would"
                  + " wait",
              name);
      assertThat(writer.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  @Test
  void theTokensOfReadersAndWritersRiseTogether() throws Exception {
    AmqpLock readLock = locks.readWriteLock(name).readLock().fenced();
    AmqpLock writeLock = locks.readWriteLock(name).writeLock().fenced();
    List<FencingToken> tokens = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      try (Lease one = readLock.acquire(LONG);
          Lease two = readLock.acquire(LONG)) {
        tokens.add(one.fencingToken());
        tokens.add(two.fencingToken());
      }
      try (Lease writer = writeLock.acquire(LONG)) {
        tokens.add(writer.fencingToken());
      }
    }
    assertRise(tokens);
  }

  /** The fence of either side is the fence of both. */
  @Test
  void aRenewedFenceRaisesTheTokensOfBothSides() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    List<FencingToken> tokens = new ArrayList<>();
    for (AmqpLock renewed : List.of(lock.readLock(), lock.writeLock())) {
      for (AmqpLock side : List.of(lock.readLock(), lock.writeLock())) {
        Lease before = side.fenced().acquire(LONG);
        tokens.add(before.fencingToken());
        before.close();
        long epoch = locks.admin().fence(renewed.id()).renew(1);
        assertThat(epoch).isGreaterThan(before.fencingToken().epoch());
        try (Lease after = side.fenced().acquire(LONG)) {
          assertThat(after.fencingToken().epoch()).isEqualTo(epoch);
          tokens.add(after.fencingToken());
        }
      }
    }
    assertRise(tokens);
    assertInvalid(
        () -> locks.admin().fence(lock.readLock().id()).renewAbove(2, 0),
        "The fence of slot 2 of read lock '%s' cannot be renewed above 0; slots are 1 to 1, and"
            + " tokens positive");
  }

  private static void assertRise(List<FencingToken> tokens) {
    for (int i = 1; i < tokens.size(); i++) {
      assertThat(tokens.get(i).isAfter(tokens.get(i - 1))).as("%s", tokens).isTrue();
    }
  }

  @Test
  void lostReadersMakeWayForTheWriter() throws Exception {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    List<Lease> readers = List.of(lock.readLock().acquire(LONG), lock.readLock().acquire(LONG));
    CompletableFuture<Lease> waiter = waitingWriter(lock);
    assertThat(locks.revoke(lock.writeLock().id(), "nobody has it")).isZero();
    assertThat(readers).allMatch(lease -> lease.verify() == LeaseState.HELD);
    assertThat(waiter).isNotDone();
    assertThat(locks.revoke(lock.readLock().id(), "for a test")).isEqualTo(2);
    Lease writer = get(waiter);
    assertThat(readers).allMatch(lease -> lease.state() == LeaseState.LOST);
    assertThat(locks.revoke(lock.readLock().id(), "for a test")).isZero();
    assertThat(writer.verify()).isEqualTo(LeaseState.HELD);
    assertThat(locks.revoke(lock.writeLock().id(), "for a test")).isEqualTo(1);
    assertThat(writer.state()).isEqualTo(LeaseState.LOST);
    lock.readLock().acquire(LONG).close();
    assertThat(locks.status().lastLoss())
        .contains("write lock '%s', slot 1: REVOKED (for a test)".formatted(name));
  }

  @Test
  void refusesWhatIsNotPossibleOfAReadWriteLock() {
    AmqpReadWriteLock lock = locks.readWriteLock(name);
    for (AmqpLock side : List.of(lock.readLock(), lock.writeLock())) {
      String label = side.id().kind().label();
      assertInvalid(
          side.id(),
          () -> side.withPermits(2),
          "A lease of 2 permits of "
              + label
              + " '%s' is not possible: each has one; those of a semaphore can have more");
      assertInvalid(
          side.id(),
          () -> side.withPriority(1),
          "The " + label + " '%s' serves without priorities; a token semaphore has them");
      assertInvalid(
          () -> locks.admin().semaphore(side.id()),
          "The " + label + " '%s' has no slots to administer; a semaphore has");
      assertThat(locks.lock(side.id()).id()).isEqualTo(side.id());
    }
    assertThatThrownBy(() -> locks.readWriteLock("")).isInstanceOf(LockException.Invalid.class);
  }

  @Test
  void saysWhatDidNotComeFreeInTime() throws Exception {
    AmqpLock mutex = locks.mutex(name);
    AmqpLock semaphore = tokens(2);
    try (Lease one = mutex.acquire(LONG);
        Lease two = semaphore.acquire(2, LONG)) {
      assertThat(two.permits()).isEqualTo(2);
      assertThatThrownBy(() -> mutex.acquire(Duration.ofMillis(50)))
          .isInstanceOf(LockException.AcquireTimeout.class)
          .hasMessage(
              "The mutex '%s' did not come free within 50 ms, the time that this call would wait",
              name);
      assertThatThrownBy(() -> semaphore.acquire(Duration.ZERO))
          .hasMessage(
              "No slot of token semaphore '%s' came free within 0 ms, the time that this call would wait",
              name);
      assertThatThrownBy(() -> semaphore.acquire(2, Duration.ofMillis(50)))
          .hasMessageStartingWith("Fewer than 2 slots of token semaphore '%s' came free", name);
      assertThat(one.state()).isEqualTo(LeaseState.HELD);
    }
  }

  @Test
  void fencingTokensRise() throws Exception {
    for (AmqpLock lock : List.of(locks.fencedMutex(name), locks.mutex(name).fenced())) {
      Lease first = lock.acquire(LONG);
      first.close();
      try (Lease second = lock.acquire(LONG)) {
        assertThat(second.fencingToken().isAfter(first.fencingToken())).isTrue();
      }
    }
    try (Lease plain = locks.mutex(name).acquire(LONG)) {
      assertThatThrownBy(plain::fencingToken)
          .isInstanceOf(LockException.NotFenced.class)
          .hasMessage(
              "The lease of slot 1 of mutex '%s' has no fencing token; acquire it by lock.fenced()",
              name);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aRevokedLeaseIsLostAndTheNextOneBegins(LockKind kind) throws Exception {
    AmqpLock lock = make(kind, 1);
    Lease lease = lock.acquire(LONG);
    CompletableFuture<LossReason> lost = lease.whenLost().toCompletableFuture();
    CompletableFuture<Lease> next = waiting(lock);
    assertThat(locks.revoke(lock.id(), "for a test")).isEqualTo(1);
    assertThat(lost.get(30, TimeUnit.SECONDS))
        .isEqualTo(new LossReason(LossReason.Cause.REVOKED, "for a test"));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.lossReason()).isPresent();
    get(next).close();
    lease.close();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(locks.status().lastLoss())
        .contains("%s, slot 1: REVOKED (for a test)".formatted(lock.id()));
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      boolean unused = latch.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aListenerThatBlocksKeepsNobodyFromHearingOfALoss() throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    mayGoOn = blocked;
    AmqpLock mutex = locks.mutex(name);
    Lease lease = mutex.acquire(LONG);
    try {
      assertThat(locks.revoke(mutex.id(), "for a test")).isEqualTo(1);
      assertThat(lease.whenLost()).succeedsWithin(LONG);
    } finally {
      blocked.countDown();
    }
  }

  @Test
  void tellsListeners() throws Exception {
    AmqpLock mutex = locks.mutex(name);
    Lease first = mutex.acquire(LONG);
    assertThat(mutex.tryAcquire()).isEmpty();
    assertThatThrownBy(() -> mutex.acquire(Duration.ZERO))
        .isInstanceOf(LockException.AcquireTimeout.class);
    assertThat(mutex.acquireAsync(Duration.ZERO))
        .failsWithin(LONG)
        .withThrowableThat()
        .withCauseInstanceOf(LockException.AcquireTimeout.class)
        .satisfies(failure -> assertThat(lockOf(failure)).contains(mutex.id()));
    assertThatThrownBy(() -> mutex.acquire(Duration.ofMillis(20)))
        .isInstanceOf(LockException.AcquireTimeout.class);
    first.close();
    Lease second = mutex.acquire(LONG);
    assertThat(locks.revoke(mutex.id(), "test")).isEqualTo(1);
    assertThat(second.state()).isEqualTo(LeaseState.LOST);
    assertThatThrownBy(() -> locks.slotSemaphore(name).tryAcquire())
        .isInstanceOf(LockException.NotFound.class);
    awaitEvents(
        "opened",
        "acquired",
        "BUSY",
        "BUSY",
        "BUSY",
        "TIMEOUT",
        "released",
        "acquired",
        "lost REVOKED",
        "ERROR");
  }

  private static Optional<LockId> lockOf(Throwable failure) {
    return failure.getCause() instanceof LockException exception
        ? exception.lock()
        : Optional.empty();
  }

  private void awaitEvents(String... expected) {
    await().untilAsserted(() -> assertThat(events).containsExactly(expected));
  }

  @Test
  void tellsListenersOfTheClose() throws Exception {
    String[] told = {"opened", "acquired", "released", "ended: closed by this process"};
    Duration took = acquireAndClose();
    // A close waits a second for the thread of the listeners, which on a busy machine may not run
    // for as long.
    for (int again = 0;
        again < 2 && took.toMillis() >= 1_000 && !events.equals(List.of(told));
        again++) {
      events.clear();
      open();
      took = acquireAndClose();
    }
    awaitEvents(told);
  }

  private Duration acquireAndClose() throws Exception {
    Lease unused = locks.mutex(name).acquire(LONG);
    long begin = System.nanoTime();
    locks.close();
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  @Test
  void whoNeverConnectedIsToldOfNoEnd() {
    locks.close();
    assertThat(events).isEmpty();
  }

  @Test
  void aListenerMayCloseTheLocks() throws Exception {
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    whenLost = () -> closeHere(interrupted);
    Lease lost = locks.mutex(name).acquire(LONG);
    Lease released = locks.mutex(name + ":other").acquire(LONG);
    assertThat(locks.revoke(lost.lock(), "for a test")).isEqualTo(1);
    assertThat(interrupted.get(LONG.toSeconds(), TimeUnit.SECONDS)).isFalse();
    assertThat(released.state()).isEqualTo(LeaseState.RELEASED);
    // It is told of what follows when it has returned.
    awaitEvents(
        "opened",
        "acquired",
        "acquired",
        "lost REVOKED",
        "released",
        "ended: closed by this process");
  }

  @Test
  void anActionThatFollowsALossMayCloseTheLocks() throws Exception {
    Lease lost = locks.mutex(name).acquire(LONG);
    Lease other = locks.mutex(name + ":other").acquire(LONG);
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    CompletableFuture<LossReason> next = new CompletableFuture<>();
    var unused = lost.whenLost().thenAccept(reason -> closeWhenLost(other, next, interrupted));
    assertThat(locks.revoke(lost.lock(), "for a test")).isEqualTo(1);
    assertThat(interrupted.get(LONG.toSeconds(), TimeUnit.SECONDS)).isFalse();
    assertThat(next.get(LONG.toSeconds(), TimeUnit.SECONDS).detail()).isEqualTo("for a test");
  }

  /** Another loss waits for its turn meanwhile. */
  private void closeWhenLost(
      Lease other, CompletableFuture<LossReason> next, CompletableFuture<Boolean> interrupted) {
    var unused = other.whenLost().thenAccept(next::complete);
    assertThat(locks.revoke(other.lock(), "for a test")).isEqualTo(1);
    closeHere(interrupted);
  }

  private void closeHere(CompletableFuture<Boolean> interrupted) {
    locks.close();
    boolean unused = interrupted.complete(Thread.currentThread().isInterrupted());
  }

  @ParameterizedTest
  @EnumSource(names = {"SLOT_SEMAPHORE", "TOKEN_SEMAPHORE"})
  void severalPermitsAreAllOrNone(LockKind kind) throws Exception {
    AmqpLock semaphore = make(kind, 3);
    Lease one = semaphore.acquire(LONG);
    Lease two = semaphore.acquire(2, LONG);
    boolean counted = kind == LockKind.TOKEN_SEMAPHORE && tokenQueueType() == TokenQueueType.QUORUM;
    assertThat(two.fencingTokens()).hasSize(counted ? 2 : 0);
    CompletableFuture<Lease> all = waiting(semaphore.withPermits(3));
    one.close();
    assertThat(locks.waiting()).containsEntry(semaphore.id(), 1);
    assertThat(locks.leases()).hasSize(1);
    two.close();
    Lease three = get(all);
    assertThat(three.permits()).isEqualTo(3);
    assertThat(semaphore.tryAcquire()).isEmpty();
    three.close();
    assertThatThrownBy(() -> semaphore.acquire(4, LONG))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessage(
            "A lease of 4 permits of %s is not possible: it has 3 slots; acquire 3 at most,"
                + " or resize it with admin().%s(\"%s\").resize(4)",
            semaphore.id(),
            kind == LockKind.SLOT_SEMAPHORE ? "slotSemaphore" : "tokenSemaphore",
            name);
  }

  @ParameterizedTest
  @EnumSource(names = {"PERSISTENT_MUTEX", "SLOT_SEMAPHORE", "TOKEN_SEMAPHORE"})
  void semaphoresAreCreatedAndPersistentMutexesEnabled(LockKind kind) {
    AmqpLock lock = lock(kind);
    assertThatThrownBy(lock::tryAcquire)
        .isInstanceOf(LockException.NotFound.class)
        .hasMessageContaining(lock.id().toString());
    assertThatThrownBy(() -> lock.acquire(LONG)).isInstanceOf(LockException.NotFound.class);
    make(kind, 3).tryAcquire().orElseThrow().close();
  }

  @Test
  void whoFindsNoPersistentMutexIsToldHowToEnableIt() {
    assertThatThrownBy(() -> locks.persistentMutex(name).tryAcquire())
        .isInstanceOf(LockException.NotFound.class)
        .hasMessage(
            "The persistent mutex '%s' is not enabled; enable it with"
                + " admin().persistentMutex(\"%s\").enable()",
            name, name);
  }

  @ParameterizedTest
  @EnumSource(names = {"SLOT_SEMAPHORE", "TOKEN_SEMAPHORE"})
  void aSemaphoreIsNotCreatedWithAnotherNumberOfSlots(LockKind kind) {
    AmqpLock semaphore = make(kind, 3);
    assertThatThrownBy(() -> make(kind, 2))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageStartingWith("There is a %s already, with 3 slots", semaphore.id())
        .hasMessageContaining("and not 2")
        .hasMessageEndingWith("; it stays as it is");
    assertThat(locks.admin().semaphore(semaphore.id()).count()).isEqualTo(3);
  }

  @Test
  void aFencedMutexIsCreatedByItsFirstUse() throws Exception {
    TokenSemaphoreAdmin admin = locks.admin().fencedMutex(name);
    assertThat(admin.count()).isZero();
    assertThatThrownBy(() -> admin.resize(1))
        .isInstanceOf(LockException.NotFound.class)
        .hasMessage("There is no fenced mutex '%s'; create it", name);
    locks.fencedMutex(name).acquire(LONG).close();
    assertThat(admin.count()).isEqualTo(1);
    assertThat(admin.resize(1)).isEqualTo(new SlotChange(1, 1));
    admin.destroy();
    assertThat(admin.count()).isZero();
  }

  @Test
  void aFenceIsNotRenewedAboveWhatNoFenceGave() throws Exception {
    AmqpLock mutex = locks.mutex(name).fenced();
    Lease first = mutex.acquire(LONG);
    CompletableFuture<Lease> next = waiting(mutex);
    assertThatThrownBy(() -> locks.admin().fence(mutex.id()).renewAbove(1, Long.MAX_VALUE))
        .isInstanceOf(LockException.FenceUnavailable.class);
    first.close();
    try (Lease second = get(next)) {
      assertThat(second.fencingToken().isAfter(first.fencingToken())).isTrue();
    }
    assertInvalid(
        () -> locks.admin().fence(LockId.fencedMutex(name)),
        "The fenced mutex '%1$s' draws its fencing tokens from its own queue and has no counters to"
            + " renew; use admin().fencedMutex(\"%1$s\").repair(timeout), or destroy() and then"
            + " create()");
  }

  @Test
  void disablingRevokes() throws Exception {
    locks.admin().persistentMutex(name).enable();
    Lease lease = locks.persistentMutex(name).acquire(LONG);
    assertThat(locks.admin().persistentMutex(name).isHeld()).isTrue();
    locks.admin().persistentMutex(name).disable();
    LossReason lost = lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS);
    assertThat(lost.cause()).isEqualTo(LossReason.Cause.REVOKED);
    assertThat(locks.admin().persistentMutex(name).isEnabled()).isFalse();
  }

  @Test
  void refusesWhatIsNotPossible() {
    AmqpLock mutex = locks.mutex(name);
    assertInvalid(
        mutex.id(),
        () -> mutex.withPriority(1),
        "The mutex '%s' serves without priorities; a token semaphore has them");
    assertInvalid(
        mutex.id(),
        () -> mutex.withPermits(2),
        "A lease of 2 permits of mutex '%s' is not possible: each has one; those of a semaphore can have more");
    for (int priority : new int[] {1000, -1000, Integer.MIN_VALUE}) {
      assertInvalid(
          LockId.tokenSemaphore(name),
          () -> locks.tokenSemaphore(name).withPriority(priority),
          "A priority of "
              + priority
              + " for token semaphore '%s' is not possible; use -999 to 999");
    }
    assertInvalid(
        LockId.tokenSemaphore(name),
        () -> locks.tokenSemaphore(name).withPermits(0),
        "A lease of 0 permits of token semaphore '%s' is not possible; use 1 or more");
    assertInvalid(
        LockId.tokenSemaphore(name),
        () -> locks.tokenSemaphore(name).withPermits(101),
        "A lease of 101 permits of token semaphore '%s' is not possible; use 100 or fewer, or several"
            + " leases");
    assertInvalid(
        mutex.id(),
        () -> mutex.holdAtMost(Duration.ZERO),
        "The longest time to hold mutex '%s' is PT0S; use more than zero");
    assertInvalid(
        mutex.id(),
        () -> mutex.acquire(Duration.ofSeconds(-1)),
        "The time to wait for mutex '%s' is negative: PT-1S; use zero or more");
    assertInvalid(
        () -> locks.admin().semaphore(mutex.id()),
        "The mutex '%s' has no slots to administer; a semaphore has");
  }

  private void assertInvalid(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
    assertThatThrownBy(call)
        .isInstanceOf(LockException.Invalid.class)
        .hasMessage(message.formatted(name));
  }

  private void assertInvalid(
      LockId lock, org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String message) {
    assertInvalid(call, message);
    assertThatThrownBy(call)
        .satisfies(
            failure -> assertThat(((LockException) failure).lock()).isEqualTo(Optional.of(lock)));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aCancelledCallWithdraws(LockKind kind) throws Exception {
    AmqpLock lock = make(kind, 1);
    Lease lease = lock.acquire(LONG);
    CompletableFuture<Lease> cancelled = waiting(lock);
    CompletableFuture<Lease> next = waiting(lock);
    assertThat(cancelled.cancel(false)).isTrue();
    await().until(() -> locks.waiting().getOrDefault(lock.id(), 0) == 1);
    lease.close();
    get(next).close();
    await().until(() -> events.contains("INTERRUPTED"));
  }

  @Test
  void anInterruptEndsTheWait() throws Exception {
    AmqpLock mutex = locks.mutex(name);
    try (Lease lease = mutex.acquire(LONG)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> mutex.acquire(LONG)).isInstanceOf(InterruptedException.class);
      assertThat(Thread.interrupted()).isFalse();
      FutureTask<Lease> waiter = new FutureTask<>(() -> mutex.acquire(LONG));
      Thread thread = new Thread(waiter);
      thread.start();
      await().until(() -> locks.waiting().containsKey(mutex.id()));
      thread.interrupt();
      assertThatThrownBy(() -> waiter.get(LONG.toSeconds() / 2, TimeUnit.SECONDS))
          .isInstanceOf(ExecutionException.class)
          .hasCauseInstanceOf(InterruptedException.class);
      assertThat(locks.waiting()).isEmpty();
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
    mutex.acquire(LONG).close();
  }

  @Test
  void aHoldEndsAtItsLimit() throws Exception {
    Lease lease = locks.mutex(name).holdAtMost(Duration.ofMillis(200)).acquire(LONG);
    LossReason lost = lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS);
    assertThat(lost)
        .isEqualTo(
            new LossReason(
                LossReason.Cause.HOLD_LIMIT, "held for PT0.2S, the longest that it may"));
    locks.mutex(name).acquire(LONG).close();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void theCloseEndsWaitersAndReleasesLeases(LockKind kind) throws Exception {
    AmqpLock lock = make(kind, 1);
    Lease lease = lock.acquire(LONG);
    CompletableFuture<Lease> waiter = waiting(lock);
    locks.close();
    assertThatThrownBy(() -> get(waiter))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(LockException.Closed.class);
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    assertThatThrownBy(lock::tryAcquire)
        .isInstanceOf(LockException.Closed.class)
        .hasMessage("This AmqpLocks is closed; no more leases of %s", lock.id())
        .satisfies(
            failure ->
                assertThat(((LockException) failure).lock()).isEqualTo(Optional.of(lock.id())));
  }
}
