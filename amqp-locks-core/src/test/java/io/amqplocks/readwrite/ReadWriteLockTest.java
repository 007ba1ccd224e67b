package io.amqplocks.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@BrokerTest(everyLine = true)
class ReadWriteLockTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  /** Readers and writers of the stress test, and for how long they go on. */
  private static final Duration STRESS = Duration.ofSeconds(5);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() {
    threads.shutdownNow();
  }

  private AmqpReadWriteLock lock() {
    return fixture.open().readWriteLock("m");
  }

  private int holders() {
    return fixture.open().admin().readWriteLock("m").holders();
  }

  private String queue() {
    return fixture.names().readWrite(LockName.of("m"));
  }

  private String gate() {
    return fixture.names().readWriteGate(LockName.of("m"));
  }

  /** By which readers notify the writer at the gate. */
  private String wakeQueue() {
    return fixture.names().wake(LockId.writeLock("m"));
  }

  private String counter() {
    return fixture.names().counter(FenceCounter.of(LockId.writeLock("m"), 1), 1);
  }

  /** Nobody holds the lock or waits for it, as the broker sees it. */
  private void isUnused() {
    fixture.awaitConsumers(queue(), 0);
    fixture.awaitConsumers(gate(), 0);
  }

  private static void isHeld(Lease lease) {
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void readersShareItAndKeepWritersOut() throws Exception {
    AmqpReadWriteLock mine = lock();
    AmqpReadWriteLock theirs = lock();
    List<Lease> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      readers.add(mine.readLock().tryAcquire().orElseThrow());
      readers.add(theirs.readLock().tryAcquire().orElseThrow());
    }
    readers.forEach(ReadWriteLockTest::isHeld);
    assertThat(holders()).isEqualTo(6);
    assertThat(mine.writeLock().tryAcquire()).isEmpty();
    assertThat(theirs.writeLock().tryAcquire()).isEmpty();
    while (readers.size() > 1) {
      readers.remove(0).close();
      assertThat(mine.writeLock().tryAcquire()).isEmpty();
    }
    isHeld(readers.get(0));
    readers.get(0).close();
    Lease writer = mine.writeLock().tryAcquire().orElseThrow();
    isHeld(writer);
    assertThat(holders()).isEqualTo(1);
    writer.close();
    isUnused();
  }

  @Test
  void aWriterKeepsReadersOut() throws Exception {
    AmqpReadWriteLock mine = lock();
    AmqpReadWriteLock theirs = lock();
    Lease writer = mine.writeLock().tryAcquire().orElseThrow();
    assertThat(mine.readLock().tryAcquire()).as("not even its own process").isEmpty();
    assertThat(theirs.readLock().tryAcquire()).isEmpty();
    assertThat(theirs.writeLock().tryAcquire()).isEmpty();
    assertThatThrownBy(() -> theirs.readLock().acquire(Duration.ofMillis(100)))
        .isInstanceOf(LockException.AcquireTimeout.class)
        .hasMessageContaining("The read lock 'm' did not come free within 100 ms");
    isHeld(writer);
    writer.close();
    // The reader that gave up leaves the gate by a message that nobody waits for.
    Fixture.first(theirs.readLock()).close();
    isUnused();
  }

  /** A lock that was given back is free for who gave it back, whichever side comes next. */
  @Test
  void theSidesFollowEachOther() {
    AmqpReadWriteLock lock = lock();
    for (int i = 0; i < 200; i++) {
      lock.writeLock().tryAcquire().orElseThrow().close();
      lock.readLock().tryAcquire().orElseThrow().close();
    }
  }

  /** Who holds one side and wants the other waits for itself, and loses nothing but the time. */
  @Test
  void oneSideIsNotTurnedIntoTheOther() throws Exception {
    AmqpReadWriteLock lock = lock();
    Duration shortly = Duration.ofMillis(200);
    try (Lease reader = lock.readLock().tryAcquire().orElseThrow()) {
      assertThatThrownBy(() -> lock.writeLock().acquire(shortly))
          .isInstanceOf(LockException.AcquireTimeout.class)
          .hasMessageContaining("write lock 'm'");
      isHeld(reader);
      lock.readLock().acquire(LONG).close();
    }
    try (Lease writer = lock.writeLock().tryAcquire().orElseThrow()) {
      assertThatThrownBy(() -> lock.readLock().acquire(shortly))
          .isInstanceOf(LockException.AcquireTimeout.class);
      isHeld(writer);
    }
    isUnused();
  }

  /** Also if a reader comes later that could share the lock with the one that holds it. */
  @Test
  void theyAreServedInTheOrderOfArrival() throws Exception {
    AmqpLocks ours = fixture.open();
    AmqpLocks theirs = fixture.open();
    Lease first = lock().readLock().tryAcquire().orElseThrow();
    CompletableFuture<Lease> writer = ours.readWriteLock("m").writeLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 1);
    CompletableFuture<Lease> reader = theirs.readWriteLock("m").readLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 2);
    assertThat(theirs.readWriteLock("m").readLock().tryAcquire()).isEmpty();
    CompletableFuture<Lease> last = lock().writeLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 3);
    assertThat(writer).isNotDone();
    first.close();
    Lease written = writer.get(60, TimeUnit.SECONDS);
    await().during(Duration.ofMillis(300)).until(() -> !reader.isDone() && !last.isDone());
    written.close();
    Lease read = reader.get(60, TimeUnit.SECONDS);
    await().during(Duration.ofMillis(300)).until(() -> !last.isDone());
    isHeld(read);
    read.close();
    last.get(60, TimeUnit.SECONDS).close();
    isUnused();
  }

  /** A lease that is released at once is not handed over to it. */
  @Test
  void aReaderDoesNotOvertakeAWriterByTheLeaseOfAnother() throws Exception {
    AmqpLocks ours = fixture.open();
    AmqpLock reading = ours.readWriteLock("m").readLock();
    AmqpLock writing = lock().writeLock();
    reading.tryAcquire().orElseThrow().close();
    for (int i = 0; i < 5; i++) {
      Lease first = reading.acquire(LONG);
      CompletableFuture<Lease> writer = writing.acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 1);
      CompletableFuture<Lease> late = reading.acquireAsync(LONG);
      first.close();
      Lease written = writer.get(60, TimeUnit.SECONDS);
      assertThat(late).isNotDone();
      written.close();
      late.get(60, TimeUnit.SECONDS).close();
    }
  }

  /** Otherwise each of them would wait for a writer more than the one before. */
  @Test
  void theWaitingReadersOfAProcessPassInOneTurn() throws Exception {
    AmqpLocks ours = fixture.open();
    Lease writer = lock().writeLock().tryAcquire().orElseThrow();
    List<CompletableFuture<Lease>> readers = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      readers.add(ours.readWriteLock("m").readLock().acquireAsync(LONG));
    }
    await().until(() -> ours.status().waiting() == 30);
    fixture.awaitConsumers(gate(), 2);
    CompletableFuture<Lease> next = lock().writeLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 3);
    writer.close();
    List<Lease> reading = new ArrayList<>();
    for (CompletableFuture<Lease> each : readers) {
      reading.add(each.get(60, TimeUnit.SECONDS));
    }
    assertThat(next).isNotDone();
    assertThat(holders()).isEqualTo(30);
    reading.forEach(Lease::close);
    next.get(60, TimeUnit.SECONDS).close();
    isUnused();
  }

  /** There is a reader at every moment, and the writer still gets its turn. */
  @Test
  void aWriterIsNotStarved() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    CountDownLatch begun = new CountDownLatch(8);
    List<Future<Integer>> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      AmqpLock lock = lock().readLock();
      for (int j = 0; j < 4; j++) {
        readers.add(threads.submit(() -> holdOn(lock, begun, over, 20, 60)));
      }
    }
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    AmqpLock writing = lock().writeLock();
    for (int i = 0; i < 5; i++) {
      writing.acquire(LONG).close();
    }
    over.set(true);
    for (Future<Integer> each : readers) {
      assertThat(each.get(60, TimeUnit.SECONDS)).as("reads of one thread").isPositive();
    }
    isUnused();
  }

  /** Acquires and holds without a pause, for so many milliseconds each time. */
  private static int holdOn(
      AmqpLock lock, CountDownLatch begun, AtomicBoolean over, int least, int most)
      throws Exception {
    int holds = 0;
    while (!over.get()) {
      try (Lease lease = lock.acquire(LONG)) {
        begun.countDown();
        holds++;
        TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(least, most));
      }
    }
    return holds;
  }

  /** The writers hand the lock over among themselves, and the reader still gets its turn. */
  @Test
  void aReaderIsNotStarved() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    CountDownLatch begun = new CountDownLatch(8);
    AmqpLock writing = lock().writeLock();
    List<Future<Integer>> writers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      writers.add(threads.submit(() -> holdOn(writing, begun, over, 1, 5)));
    }
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    AmqpLock reading = lock().readLock();
    for (int i = 0; i < 5; i++) {
      reading.acquire(LONG).close();
    }
    over.set(true);
    for (Future<Integer> each : writers) {
      assertThat(each.get(60, TimeUnit.SECONDS)).as("writes of one thread").isPositive();
    }
    isUnused();
  }

  /** Each counts who is beside it, while it holds. */
  @Test
  void neverAWriterBesideAnybody() throws Exception {
    AtomicInteger reading = new AtomicInteger();
    AtomicInteger writing = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger writes = new AtomicInteger();
    long start = System.nanoTime();
    // A busy machine may be given more time to show enough.
    BooleanSupplier goesOn =
        () ->
            isYoung(start, STRESS.toSeconds())
                || ((most.get() < 2 || writes.get() <= 10) && isYoung(start, 60));
    List<Callable<String>> work = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      AmqpReadWriteLock lock = lock();
      for (int j = 0; j < 4; j++) {
        work.add(
            () -> {
              while (goesOn.getAsBoolean()) {
                try (Lease lease = lock.readLock().acquire(LONG)) {
                  most.accumulateAndGet(reading.incrementAndGet(), Math::max);
                  LockSupport.parkNanos(50_000);
                  if (writing.get() > 0) {
                    return "a reader beside a writer";
                  }
                  reading.decrementAndGet();
                }
              }
              return "";
            });
      }
      for (int j = 0; j < 2; j++) {
        work.add(
            () -> {
              while (goesOn.getAsBoolean()) {
                try (Lease lease = lock.writeLock().acquire(LONG)) {
                  writes.incrementAndGet();
                  if (writing.incrementAndGet() > 1 || reading.get() > 0) {
                    return "a writer beside somebody";
                  }
                  LockSupport.parkNanos(50_000);
                  if (reading.get() > 0) {
                    return "a reader beside a writer";
                  }
                  writing.decrementAndGet();
                }
              }
              return "";
            });
      }
    }
    for (Future<String> each : threads.invokeAll(work)) {
      assertThat(each.get()).isEmpty();
    }
    assertThat(most.get()).as("readers at once").isGreaterThan(1);
    assertThat(writes.get()).as("writes").isGreaterThan(10);
    isUnused();
  }

  @Test
  void theTokensOfBothSidesRiseTogether() throws Exception {
    AmqpReadWriteLock mine = lock();
    AmqpReadWriteLock theirs = lock();
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      try (Lease writer = mine.writeLock().fenced().acquire(LONG)) {
        numbers.add(writer.fencingToken().number());
      }
      try (Lease one = mine.readLock().fenced().acquire(LONG);
          Lease two = theirs.readLock().fenced().acquire(LONG)) {
        numbers.add(one.fencingToken().number());
        numbers.add(two.fencingToken().number());
      }
      try (Lease writer = theirs.writeLock().fenced().acquire(LONG)) {
        numbers.add(writer.fencingToken().number());
      }
    }
    assertThat(numbers).isSorted().doesNotHaveDuplicates();
  }

  @Tag("trap-14")
  @Test
  void allReadersHearAtOnceThatTheQueueWasDeleted(Broker broker) throws Exception {
    AmqpLocks one = fixture.open(fixture.seldomVerifying());
    AmqpLocks two = fixture.open(fixture.seldomVerifying());
    List<Lease> readers =
        List.of(
            one.readWriteLock("m").readLock().tryAcquire().orElseThrow(),
            one.readWriteLock("m").readLock().tryAcquire().orElseThrow(),
            two.readWriteLock("m").readLock().tryAcquire().orElseThrow());
    broker.faults().deleteQueue(queue());
    await()
        .atMost(Fixture.AT_ONCE)
        .until(() -> readers.stream().allMatch(ReadWriteLockTest::isLost));
    assertThat(readers.get(0).lossReason().orElseThrow().detail()).contains(queue());
    two.readWriteLock("m").writeLock().acquire(LONG).close();
    one.readWriteLock("m").readLock().acquire(LONG).close();
    isUnused();
  }

  private static boolean isLost(Lease lease) {
    return lease.state() == LeaseState.LOST;
  }

  /** Without its gate a writer holds on. Nobody comes to hold beside it. */
  @Test
  void theGateDecidesWhoWaitsAndNotWhoHolds(Broker broker) throws Exception {
    AmqpReadWriteLock mine = lock();
    AmqpLocks others = fixture.open();
    AmqpReadWriteLock theirs = others.readWriteLock("m");
    Lease writer = mine.writeLock().tryAcquire().orElseThrow();
    for (int i = 0; i < 3; i++) {
      broker.faults().deleteQueue(gate());
      assertThat(theirs.readLock().tryAcquire()).isEmpty();
      assertThat(theirs.writeLock().tryAcquire()).isEmpty();
      assertThatThrownBy(() -> theirs.writeLock().acquire(Duration.ofMillis(200)))
          .isInstanceOf(LockException.AcquireTimeout.class);
    }
    CompletableFuture<Lease> reader = theirs.readLock().acquireAsync(LONG);
    await().until(() -> others.status().waiting() == 1);
    await().during(Duration.ofMillis(500)).until(() -> !reader.isDone());
    isHeld(writer);
    writer.close();
    reader.get(60, TimeUnit.SECONDS).close();
    isUnused();
  }

  private boolean hasConsumers(String queue) {
    return fixture.broker().faults().queues().stream()
        .anyMatch(each -> each.name().equals(queue) && each.consumers() > 0);
  }

  /** It loses its turn to whoever stands there now, and stands in line again. */
  @Test
  void aWaiterWhoseGateIsDeletedWaitsOn(Broker broker) throws Exception {
    Lease reader = lock().readLock().tryAcquire().orElseThrow();
    CompletableFuture<Lease> writer = lock().writeLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 1);
    CompletableFuture<Lease> behind = lock().readLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 2);
    CompletableFuture<Void> read = behind.thenAccept(Lease::close);
    broker.faults().deleteQueue(gate());
    // The reader may find the gate empty, and share the lock before the writer is there again.
    await().until(() -> hasConsumers(gate()));
    assertThat(writer).isNotDone();
    reader.close();
    writer.get(60, TimeUnit.SECONDS).close();
    read.get(60, TimeUnit.SECONDS);
    isUnused();
  }

  @Test
  void waitersThatGiveUpLeaveNothingBehind() throws Exception {
    AmqpLocks locks = fixture.open();
    AmqpReadWriteLock lock = locks.readWriteLock("m");
    Duration shortly = Duration.ofMillis(100);
    try (Lease reader = lock().readLock().tryAcquire().orElseThrow()) {
      assertThatThrownBy(() -> lock.writeLock().acquire(shortly))
          .isInstanceOf(LockException.AcquireTimeout.class);
      CompletableFuture<Lease> cancelled = lock.writeLock().acquireAsync(LONG);
      fixture.awaitConsumers(gate(), 1);
      assertThat(cancelled.cancel(true)).isTrue();
      fixture.awaitConsumers(gate(), 0);
      await().until(() -> !hasConsumers(wakeQueue()));
      isHeld(reader);
      lock.readLock().tryAcquire().orElseThrow().close();
    }
    isUnused();
    assertThat(locks.status().waiting()).isZero();
  }

  /** As by an operator who moves all queues to another type and leaves the rest as it was. */
  private void declareAsQuorumQueue(Connection stranger) throws IOException {
    stranger
        .createChannel()
        .queueDeclare(
            queue(),
            true,
            false,
            false,
            Map.of(
                "x-queue-type",
                "quorum",
                "x-max-length",
                0,
                "x-overflow",
                "drop-head",
                "x-expires",
                60_000));
  }

  /** Its session would not declare it again. */
  @Tag("trap-16")
  @Test
  void aQueueThatWasReplacedUnseenIsRefusedToAWriter() throws Exception {
    AmqpReadWriteLock lock = lock();
    lock.writeLock().tryAcquire().orElseThrow().close();
    try (Connection stranger = fixture.stranger()) {
      stranger.createChannel().queueDelete(queue());
      declareAsQuorumQueue(stranger);
      assertThatThrownBy(lock.writeLock()::tryAcquire)
          .isInstanceOf(LockException.Conflict.class)
          .hasMessageContaining(queue())
          .hasMessageContaining("delete it");
      // Nor does the consumer stay that was admitted.
      Channel channel = stranger.createChannel();
      await().until(() -> channel.consumerCount(queue()) == 0);
      channel.queueDelete(queue());
    }
    lock.writeLock().tryAcquire().orElseThrow().close();
    isUnused();
  }

  @Tag("trap-16")
  @Test
  void aQueueThatWouldAdmitAWriterBesideOthersIsRefused() throws Exception {
    try (Connection stranger = fixture.stranger()) {
      declareAsQuorumQueue(stranger);
      AmqpReadWriteLock lock = lock();
      for (AmqpLock each : List.of(lock.readLock(), lock.writeLock())) {
        assertThatThrownBy(each::tryAcquire)
            .isInstanceOf(LockException.Conflict.class)
            .hasMessageContaining(each.id().toString())
            .hasMessageContaining(queue())
            .hasMessageContaining("x-queue-type")
            .hasMessageContaining("delete it");
      }
      stranger.createChannel().queueDelete(queue());
      lock.writeLock().tryAcquire().orElseThrow().close();
    }
  }

  /** Else a program that tries again and again to write would keep others from reading. */
  @Test
  void aWriterThatOnlyTriesDoesNotStopReaders() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger tries = new AtomicInteger();
    AmqpLock reading = lock().readLock();
    AmqpLock writing = lock().writeLock();
    try (Lease reader = reading.tryAcquire().orElseThrow()) {
      Future<?> writer =
          threads.submit(
              () -> {
                while (!over.get()) {
                  assertThat(writing.tryAcquire()).isEmpty();
                  tries.incrementAndGet();
                }
                return null;
              });
      await().until(() -> tries.get() > 5);
      for (int i = 0; i < 200; i++) {
        reading.tryAcquire().orElseThrow().close();
      }
      over.set(true);
      writer.get(60, TimeUnit.SECONDS);
      isHeld(reader);
    }
    isUnused();
  }

  /** A reader that looked at the gate before the writer came may still come before it. */
  @Test
  void aWriterThatMeetsALateReaderLeavesTheGate() throws Exception {
    long start = System.nanoTime();
    AtomicInteger writes = new AtomicInteger();
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      AmqpReadWriteLock lock = lock();
      for (AmqpLock each : List.of(lock.readLock(), lock.readLock(), lock.writeLock())) {
        all.add(
            threads.submit(
                () -> {
                  // On a busy machine it may take longer than that.
                  while (isYoung(start, 2) || (writes.get() == 0 && isYoung(start, 40))) {
                    Optional<Lease> lease = each.tryAcquire();
                    if (lease.isPresent() && each.equals(lock.writeLock())) {
                      writes.incrementAndGet();
                    }
                    lease.ifPresent(Lease::close);
                  }
                  return null;
                }));
      }
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(writes).as("writes").hasPositiveValue();
    isUnused();
  }

  private static boolean isYoung(long start, long seconds) {
    return System.nanoTime() - start < TimeUnit.SECONDS.toNanos(seconds);
  }

  /** The one at the gate, wherever it is. It would find out by itself, but later. */
  @Test
  void eachReaderThatLeavesNotifiesAWriter() throws Exception {
    AtomicInteger words = new AtomicInteger();
    AmqpLock reading = lock().readLock();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      channel.queueDeclare(wakeQueue(), true, false, true, Map.of());
      channel.basicConsume(
          wakeQueue(), true, (tag, word) -> words.incrementAndGet(), tag -> words.set(-1));
      for (int i = 1; i <= 3; i++) {
        int before = words.get();
        reading.tryAcquire().orElseThrow().close();
        await().until(() -> words.get() > before);
      }
    }
  }

  /** If many readers wait in a process, a writer behind the first of them gets its turn too. */
  @Test
  void soManyReadersPassInOneTurnAndNoMore() throws Exception {
    AmqpLocks ours = fixture.open();
    Lease writer = lock().writeLock().tryAcquire().orElseThrow();
    List<CompletableFuture<Lease>> readers = new ArrayList<>();
    for (int i = 0; i < 120; i++) {
      readers.add(ours.readWriteLock("m").readLock().acquireAsync(LONG));
    }
    await().until(() -> ours.status().waiting() == 120);
    fixture.awaitConsumers(gate(), 2);
    CompletableFuture<Lease> next = lock().writeLock().acquireAsync(LONG);
    fixture.awaitConsumers(gate(), 3);
    writer.close();
    await().until(() -> holders() == 100);
    // The writer has its turn by then, and waits for them.
    await().during(Duration.ofMillis(500)).until(() -> holders() == 100 && !next.isDone());
    List<CompletableFuture<Void>> closed =
        readers.stream().map(each -> each.thenAccept(Lease::close)).toList();
    Lease written = next.get(60, TimeUnit.SECONDS);
    assertThat(closed).filteredOn(each -> !each.isDone()).hasSize(20);
    written.close();
    for (CompletableFuture<Void> each : closed) {
      each.get(60, TimeUnit.SECONDS);
    }
    isUnused();
  }

  /** Else whom it calls would find the lock taken. */
  @Test
  void aWriterLeavesTheGateAfterTheLock(Broker broker) throws Exception {
    Lease writer = lock().writeLock().tryAcquire().orElseThrow();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      broker.faults().suspendQueue(queue());
      CompletableFuture<Void> closing = CompletableFuture.runAsync(writer::close, threads);
      try {
        await()
            .during(Duration.ofMillis(500))
            .until(() -> channel.queueDeclarePassive(gate()).getConsumerCount() == 1);
        assertThat(closing).isNotDone();
      } finally {
        broker.faults().resumeQueue(queue());
      }
      closing.get(60, TimeUnit.SECONDS);
    }
    isUnused();
  }

  /** The lock and the turn were won before the token could not be drawn. */
  @Test
  void aWriterWithoutATokenLeavesTheGate() throws Exception {
    AmqpReadWriteLock lock = lock();
    lock.writeLock().fenced().acquire(LONG).close();
    fixture.delete(counter());
    assertThatThrownBy(() -> lock.writeLock().fenced().tryAcquire())
        .isInstanceOf(LockException.FenceUnavailable.class);
    isUnused();
    assertThatThrownBy(() -> lock.writeLock().fenced().acquire(LONG))
        .isInstanceOf(LockException.FenceUnavailable.class);
    isUnused();
    lock.readLock().tryAcquire().orElseThrow().close();
  }

  /** Its turn is over then, and it stands in line for another. */
  @Test
  void aWriterWhoseQueueGoesWhileItDrawsItsTokenWaitsOn() throws Exception {
    AmqpLock writing = lock().writeLock().fenced();
    writing.acquire(LONG).close();
    isUnused();
    CompletableFuture<Lease> writer;
    try (Connection stranger = fixture.stranger()) {
      assertThat(stranger.createChannel().basicGet(counter(), false)).isNotNull();
      writer = writing.acquireAsync(LONG);
      fixture.awaitConsumers(queue(), 1);
      fixture.delete(queue());
    }
    try (Lease lease = writer.get(60, TimeUnit.SECONDS)) {
      isHeld(lease);
    }
    isUnused();
  }

  /** As after a minute without use. */
  @Test
  void queuesThatAreGoneComeBackAtOnce() throws Exception {
    AmqpReadWriteLock lock = lock();
    for (AmqpLock each : List.of(lock.readLock(), lock.writeLock())) {
      each.tryAcquire().orElseThrow().close();
      isUnused();
      fixture.delete(queue());
      each.tryAcquire().orElseThrow().close();
      isUnused();
      fixture.delete(gate());
      // The first look finds that it has gone, and no reader is stopped by that.
      each.tryAcquire().orElseThrow().close();
      each.tryAcquire().orElseThrow().close();
      isUnused();
    }
  }

  @Test
  void whatTheLockDoesNotHaveIsRefused() {
    AmqpReadWriteLock lock = lock();
    assertThatThrownBy(() -> lock.readLock().withPermits(2))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("read lock 'm'");
    assertThatThrownBy(() -> lock.writeLock().withPriority(1))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("write lock 'm'");
    assertThatThrownBy(() -> fixture.open().admin().semaphore(lock.readLock().id()))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("read lock 'm'");
  }
}
