package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.KeySweep;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sweeps of keys, with semaphores that were created days ago by the clock of their creator. */
@BrokerTest(everyLine = true)
class KeySweepingTest {

  private static final LockId NAME = LockId.tokenSemaphore("c");
  private static final Duration LONG = Duration.ofSeconds(30);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicLong minutesAgo = new AtomicLong(Duration.ofDays(30).toMinutes());
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private ClockedClient client;
  private AmqpLocks locks;

  @BeforeEach
  void open(Broker broker) throws Exception {
    this.broker = broker;
    client = new ClockedClient(broker, Duration.ofSeconds(30));
    locks = fixture.open();
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    client.close();
  }

  /** No two creations are in the same minute, as a name of a queue is not used twice. */
  private TokenRecord create(LockId lock, int slots, TokenQueueType type) {
    Instant then = Instant.now().minus(Duration.ofMinutes(minutesAgo.getAndDecrement()));
    AdminTurn turn =
        new AdminTurn(
            lock,
            fixture.names(),
            client.sessions(),
            Duration.ofSeconds(10),
            Ticker.SYSTEM,
            Clock.fixed(then, ZoneOffset.UTC),
            LONG);
    return turn.during(steps -> steps.create(slots, type, true));
  }

  private KeySweep sweep() {
    return locks.admin().sweepKeys(NAME, Duration.ZERO);
  }

  private List<String> queuesOf(String lock) {
    return Tokens.queues(broker, fixture.prefix() + "token-semaphore." + lock + ".");
  }

  @ParameterizedTest
  @EnumSource
  void whatNobodyUsesGoesWhole(TokenQueueType type) throws Exception {
    for (String key : List.of("c:unused", "c:used", "c:held")) {
      create(LockId.tokenSemaphore(key), 3, type);
      assertThat(queuesOf(key)).hasSize(3);
    }
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 3, 0));
    locks.tokenSemaphore("c:used").acquire(LONG).close();
    try (Lease held = locks.tokenSemaphore("c:held").acquire(LONG)) {
      KeySweep second = sweep();
      assertThat(second.removed()).contains(LockName.of("c:unused"));
      // A classic queue does not count its deliveries.
      if (type == TokenQueueType.QUORUM) {
        assertThat(second.removed()).hasSize(1);
      }
      assertThat(queuesOf("c:unused")).isEmpty();
      Tokens.verified(held);
      assertThat(queuesOf("c:held")).hasSize(3);
    }
    await()
        .untilAsserted(
            () -> {
              KeySweep unused = sweep();
              assertThat(Tokens.queues(broker, fixture.prefix() + "token-semaphore.")).isEmpty();
            });
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 0, 0));
    assertThatThrownBy(() -> locks.tokenSemaphore("c:used").acquire(LONG))
        .isInstanceOf(LockException.NotFound.class);
    // As if it had never been.
    locks.admin().tokenSemaphore("c:used").create(2, type);
    locks.tokenSemaphore("c:used").acquire(LONG).close();
  }

  @Test
  void whatWasMadeJustNowStays() throws Exception {
    locks.admin().tokenSemaphore("c:new").create(1, TokenQueueType.QUORUM);
    locks.admin().tokenSemaphore("c").create(1, TokenQueueType.QUORUM);
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 1, 0));
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 1, 0));
    // Destroyed, and remembered for an hour; the entry is needed to forget it then.
    locks.admin().tokenSemaphore("c:new").destroy();
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 1, 0));
    assertThat(queuesOf("c:new")).hasSize(2);
  }

  @Test
  void aFencedMutexIsMadeAgainAtItsNextUse() throws Exception {
    LockId id = LockId.fencedMutex("m:1");
    create(id, 1, TokenQueueType.QUORUM);
    AmqpLock mutex = locks.fencedMutex("m:1");
    FencingToken before = Fences.token(mutex);
    await()
        .until(
            () ->
                locks.admin().sweepKeys(LockId.fencedMutex("m"), Duration.ZERO).removed().size()
                    == 1);
    assertThat(Tokens.queues(broker, fixture.prefix() + "fenced-mutex.")).isEmpty();
    assertThat(Fences.token(mutex).isAfter(before)).isTrue();
  }

  @Test
  void entriesTooManyAndStrangeMessagesGo() throws Exception {
    create(LockId.tokenSemaphore("c:1"), 1, TokenQueueType.QUORUM);
    String index = fixture.names().keys(NAME);
    assertThat(Tokens.idle(broker, index)).containsExactly("key c:1");
    for (String text : List.of("rubbish", "key d:1", "key c:1", "key c:never")) {
      Fences.publish(broker, index, text);
    }
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 2, 0));
    assertThat(Tokens.idle(broker, index))
        .hasSize(2)
        .anyMatch(text -> text.matches("idle since \\d+ generation \\d+ returns 1 key c:1"))
        .anyMatch(text -> text.matches("idle since \\d+ generation 0 returns 0 key c:never"));
    assertThat(sweep().removed())
        .containsExactlyInAnyOrder(LockName.of("c:1"), LockName.of("c:never"));
    assertThat(Tokens.idle(broker, index)).isEmpty();
  }

  @Test
  void aKeyWithAnotherAdministratorOrWithoutItsQueueIsKept() throws Exception {
    create(LockId.tokenSemaphore("c:1"), 1, TokenQueueType.QUORUM);
    LockId busy = LockId.tokenSemaphore("c:2");
    create(busy, 1, TokenQueueType.QUORUM);
    try (com.rabbitmq.client.Connection other = fixture.stranger()) {
      other
          .createChannel()
          .queueDeclare(fixture.names().tokenAdmin(busy), false, true, false, null);
      assertThat(sweep().kept()).isEqualTo(2);
      assertThat(sweep().removed()).containsExactly(LockName.of("c:1"));
    }
    TokenRecord record = create(LockId.tokenSemaphore("c:1"), 1, TokenQueueType.QUORUM);
    fixture.delete(fixture.names().tokens(LockId.tokenSemaphore("c:1"), record.generation()));
    assertThat(sweep().kept()).isEqualTo(2);
    assertThat(sweep().removed()).containsExactly(LockName.of("c:2"));
  }

  private KeySweeping sweeping(
      ClockedClient by, int most, Duration timeout, KeySweeping.Looking looking) {
    AdminTurn turn =
        new AdminTurn(
            NAME,
            fixture.names(),
            by.sessions(),
            Duration.ofSeconds(10),
            Ticker.SYSTEM,
            Clock.systemUTC(),
            LONG);
    return new KeySweeping(turn, most, timeout, looking);
  }

  private void createFive() {
    for (int key = 1; key <= 5; key++) {
      create(LockId.tokenSemaphore("c:" + key), 1, TokenQueueType.QUORUM);
    }
  }

  private static List<LockName> keys(int... which) {
    return IntStream.of(which).mapToObj(key -> LockName.of("c:" + key)).toList();
  }

  /** The connection breaks at the third key, whenever that is looked at. */
  @Test
  void aKeyThatCannotBeLookedAtStopsNoOther() throws Exception {
    createFive();
    KeySweeping breaking =
        sweeping(
            client,
            100,
            LONG,
            (at, on, steps) -> {
              if (at.lock().name().equals(LockName.of("c:3"))) {
                on.close();
              }
              return at.during(on, steps);
            });
    assertThat(breaking.sweep(Duration.ZERO)).isEqualTo(new KeySweep(List.of(), 5, 0));
    KeySweep second = breaking.sweep(Duration.ZERO);
    assertThat(second.removed()).containsExactlyInAnyOrderElementsOf(keys(1, 2, 4, 5));
    assertThat(second.kept()).isEqualTo(1);
    assertThat(second.left()).isZero();
    assertThat(Tokens.idle(broker, fixture.names().keys(NAME))).containsExactly("key c:3");
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 1, 0));
    assertThat(sweep()).isEqualTo(new KeySweep(keys(3), 0, 0));
  }

  @Test
  void whatWasRemovedIsToldEvenIfTheIndexFailsThen() throws Exception {
    createFive();
    assertThat(sweep().kept()).isEqualTo(5);
    String index = fixture.names().keys(NAME);
    AtomicInteger looks = new AtomicInteger();
    try (ClockedClient cut = new ClockedClient(broker, fixture.prefix(), LONG)) {
      KeySweeping breaking =
          sweeping(
              cut,
              100,
              LONG,
              (at, on, steps) -> {
                if (looks.incrementAndGet() == 3) {
                  connections(fixture.prefix())
                      .forEach(name -> broker.faults().closeConnections(name, "a test"));
                }
                return at.during(on, steps);
              });
      KeySweep swept = breaking.sweep(Duration.ZERO);
      assertThat(swept.removed()).hasSize(2);
      assertThat(swept.kept()).isZero();
      assertThat(swept.left()).isEqualTo(3);
    }
    // Also the entries of what was removed, which a sweep drops.
    await().until(() -> Tokens.idle(broker, index).size() == 5);
    await().until(() -> sweep().kept() == 0);
    assertThat(Tokens.queues(broker, fixture.prefix() + "token-semaphore.")).isEmpty();
  }

  private List<String> connections(String prefix) {
    return broker.faults().connections().stream()
        .filter(name -> name.startsWith(prefix))
        .distinct()
        .toList();
  }

  @Test
  void whatIsLeftHasItsTurnInLaterCalls() throws Exception {
    createFive();
    KeySweeping two = sweeping(client, 2, LONG, AdminTurn::during);
    assertThat(two.sweep(Duration.ZERO)).isEqualTo(new KeySweep(List.of(), 2, 3));
    // Nothing is looked at again before the others had their turn.
    assertThat(two.sweep(Duration.ZERO)).isEqualTo(new KeySweep(List.of(), 2, 3));
    List<LockName> removed = new ArrayList<>();
    for (int call = 1; call <= 10 && removed.size() < 5; call++) {
      int before = removed.size();
      KeySweep swept = two.sweep(Duration.ZERO);
      removed.addAll(swept.removed());
      assertThat(swept.removed().size() + swept.kept()).isEqualTo(Math.min(2, 5 - before));
      assertThat(swept.left()).isEqualTo(5 - before - Math.min(2, 5 - before));
    }
    assertThat(removed).containsExactlyInAnyOrderElementsOf(keys(1, 2, 3, 4, 5));
  }

  @Test
  void aSweepWithoutTimeLooksAtNothing() throws Exception {
    createFive();
    KeySweeping late = sweeping(client, 3, Duration.ZERO, AdminTurn::during);
    assertThat(late.sweep(Duration.ZERO)).isEqualTo(new KeySweep(List.of(), 0, 5));
    await().until(() -> Tokens.idle(broker, fixture.names().keys(NAME)).size() == 5);
  }

  /** Holders, creators and sweepers, who know nothing of each other. */
  @ParameterizedTest
  @EnumSource
  void neverMoreHoldersThanSlotsAndNoneLosesItsLease(TokenQueueType type) throws Exception {
    int slots = 2;
    LockId id = LockId.tokenSemaphore("c:1");
    AtomicInteger holders = new AtomicInteger();
    AtomicInteger leases = new AtomicInteger();
    AtomicInteger removals = new AtomicInteger();
    // 3.10 ends the connection of whoever reads a quorum queue whose process is still starting.
    create(id, slots, type);
    long start = System.nanoTime();
    // Longer only on a machine so busy that there was no lease or no removal yet.
    BooleanSupplier goesOn =
        () -> {
          long passed = System.nanoTime() - start;
          return passed < Duration.ofSeconds(8).toNanos()
              || (passed < Duration.ofSeconds(68).toNanos()
                  && (leases.get() == 0 || removals.get() == 0));
        };
    List<Callable<Boolean>> work = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      AmqpLock semaphore = fixture.open().tokenSemaphore("c:1");
      work.add(
          () -> {
            while (goesOn.getAsBoolean()) {
              try (Lease lease = semaphore.acquire(LONG)) {
                assertThat(holders.incrementAndGet()).isLessThanOrEqualTo(slots);
                Tokens.verified(lease);
                holders.decrementAndGet();
                leases.incrementAndGet();
              } catch (LockException.NotFound e) {
                create(id, slots, type);
              }
              // All pause at the same times, so that sweeps find it unused.
              await()
                  .pollInterval(Duration.ofMillis(5))
                  .until(() -> !goesOn.getAsBoolean() || isBusyTime());
            }
            return true;
          });
    }
    for (int i = 0; i < 2; i++) {
      AmqpLocks sweeper = fixture.open();
      work.add(
          () -> {
            while (goesOn.getAsBoolean()) {
              removals.addAndGet(sweeper.admin().sweepKeys(NAME, Duration.ZERO).removed().size());
            }
            return true;
          });
    }
    for (Future<Boolean> each : threads.invokeAll(work, 2, TimeUnit.MINUTES)) {
      assertThat(each.get()).isTrue();
    }
    System.out.printf("%s: %s leases, %s removals%n", type, leases, removals);
    assertThat(leases.get()).isPositive();
    assertThat(removals.get()).isPositive();
    // What is left is known to the index.
    await().until(() -> sweep().removed().size() == 1 || queuesOf("c:1").isEmpty());
    assertThat(queuesOf("c:1")).isEmpty();
  }

  private static boolean isBusyTime() {
    return Math.floorMod(System.nanoTime(), Duration.ofSeconds(2).toNanos()) < 1_000_000_000;
  }

  @Test
  void whatHasNoIndexIsRefused() {
    for (LockId id : List.of(LockId.mutex("c"), LockId.slotSemaphore("c"))) {
      assertThatThrownBy(() -> locks.admin().sweepKeys(id, Duration.ZERO))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining(id.toString());
    }
    assertThatThrownBy(() -> locks.admin().sweepKeys(LockId.tokenSemaphore("c:1"), Duration.ZERO))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("'c'");
    assertThatThrownBy(() -> locks.admin().sweepKeys(NAME, Duration.ofSeconds(-1)))
        .isInstanceOf(LockException.Invalid.class);
    assertThat(sweep()).isEqualTo(new KeySweep(List.of(), 0, 0));
  }
}
