package io.amqplocks.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.FenceAdmin;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks with keys share counters: tokens of each key rise, and no key leaves anything behind. */
@BrokerTest(everyLine = true)
class KeyedFenceTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private AmqpLocks locks;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    locks = fixture.open();
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    broker.faults().heal();
  }

  private static int counterOf(String lock) {
    return FenceCounter.of(LockId.mutex(lock), 1).number();
  }

  private String counter(int number, int generation) {
    return fixture.prefix() + "fence.keyed-mutex.order." + number + "." + generation;
  }

  private List<String> queues() {
    return broker.faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(fixture.prefix()))
        .toList();
  }

  /** RabbitMQ 4.3 may close the connection of one that asks for the turn just when it is freed. */
  @Test
  void clientsThatMakeACounterAtOnceAllGetATokenOfIt() throws Exception {
    List<AmqpLocks> clients = IntStream.range(0, 4).mapToObj(i -> fixture.open()).toList();
    for (int i = 0; i < 12; i++) {
      String name = "order" + i;
      List<Callable<FencingToken>> readers = new ArrayList<>();
      for (AmqpLocks client : clients) {
        AmqpLock lock = client.readWriteLock(name).readLock().fenced();
        readers.add(
            () -> {
              try (Lease lease = lock.acquire(LONG)) {
                return lease.fencingToken();
              }
            });
      }
      List<FencingToken> tokens = all(readers);
      assertThat(tokens).as(name).doesNotHaveDuplicates();
      assertThat(tokens.stream().map(FencingToken::epoch).distinct()).as(name).hasSize(1);
    }
  }

  private <T> List<T> all(List<Callable<T>> work) throws Exception {
    List<T> results = new ArrayList<>();
    for (Future<T> each : threads.invokeAll(work, 3, TimeUnit.MINUTES)) {
      results.add(each.get());
    }
    return results;
  }

  @Test
  void keysLeaveNothingButTheCountersOfTheirName() throws Exception {
    // Instead of after a minute.
    broker
        .faults()
        .setPolicy(
            "soon-" + fixture.prefix(),
            "^" + fixture.prefix() + "mutex",
            "queues",
            "{\"expires\":1000}");
    int keys = 60;
    // A counter that is not made within a call is made anew as another one.
    AmqpLocks locks = fixture.patient();
    List<Callable<FencingToken>> work =
        IntStream.range(0, keys)
            .<Callable<FencingToken>>mapToObj(
                key -> () -> Fences.token(locks.mutex("order:" + key)))
            .toList();
    assertThat(all(work)).hasSize(keys);
    await().until(() -> queues().stream().noneMatch(name -> name.contains(".mutex.")));
    long counters =
        IntStream.range(0, keys).map(key -> counterOf("order:" + key)).distinct().count();
    assertThat(queues())
        .hasSize(2 * (int) counters)
        .allMatch(name -> name.matches(".*\\.(fence|epoch)\\.keyed-mutex\\.order\\.\\d+\\.1"));
  }

  @Test
  void tokensOfEachKeyRiseWhoeverDrawsFromItsCounter() throws Exception {
    // Three of one counter, and some others.
    List<String> keys = new ArrayList<>(keysOf(counterOf("order:0"), 3));
    keys.addAll(List.of("order:1", "order:2", "order:3"));
    Map<String, List<Long>> tokens = new ConcurrentHashMap<>();
    List<Callable<Boolean>> work = new ArrayList<>();
    for (int client = 0; client < 2; client++) {
      AmqpLocks of = fixture.open();
      for (int thread = 0; thread < 4; thread++) {
        int first = client + thread;
        work.add(
            () -> {
              for (int n = 0; n < 18; n++) {
                String key = keys.get((first + n) % keys.size());
                try (Lease lease = of.mutex(key).fenced().acquire(LONG)) {
                  tokens
                      .computeIfAbsent(key, same -> new CopyOnWriteArrayList<>())
                      .add(lease.fencingToken().number());
                }
              }
              return true;
            });
      }
    }
    assertThat(all(work)).hasSize(8);
    assertThat(tokens).containsOnlyKeys(keys);
    tokens.forEach((key, ofKey) -> assertThat(ofKey).as(key).isSorted().doesNotHaveDuplicates());
    assertThat(tokens.values().stream().mapToInt(List::size).sum()).isEqualTo(8 * 18);
    // Keys of one counter never have the same number.
    assertThat(
            keys.subList(0, 3).stream()
                .flatMap(key -> tokens.getOrDefault(key, List.of()).stream()))
        .doesNotHaveDuplicates();
  }

  private static List<String> keysOf(int counter, int many) {
    return IntStream.iterate(0, i -> i + 1)
        .mapToObj(i -> "order:" + i)
        .filter(key -> counterOf(key) == counter)
        .limit(many)
        .toList();
  }

  @Test
  void whoFindsACounterMissingAtOnceMakesItOnce() throws Exception {
    List<Callable<FencingToken>> work = new ArrayList<>();
    List<AmqpLocks> clients = List.of(locks, fixture.open());
    for (String key : keysOf(7, 16)) {
      AmqpLock mutex = clients.get(work.size() % 2).mutex(key);
      work.add(() -> Fences.token(mutex));
    }
    assertThat(all(work).stream().map(FencingToken::n)).doesNotHaveDuplicates().hasSize(16);
    assertThat(Fences.queues(broker, fixture.prefix()))
        .containsExactly(fixture.prefix() + "epoch.keyed-mutex.order.7.1", counter(7, 1));
  }

  @Test
  void aLostCounterStopsItsKeysOnlyAndIsRenewedByAnyOfThem() throws Exception {
    List<String> sharing = keysOf(3, 2);
    AmqpLock lost = locks.mutex(sharing.get(0));
    AmqpLock alsoLost = locks.mutex(sharing.get(1));
    AmqpLock other = locks.mutex(keysOf(4, 1).get(0));
    FencingToken before = Fences.token(lost);
    FencingToken unharmed = Fences.token(other);
    broker.faults().deleteQueue(counter(3, 1));
    for (AmqpLock each : List.of(lost, alsoLost)) {
      assertThatThrownBy(() -> each.fenced().acquire(LONG))
          .isInstanceOf(LockException.FenceUnavailable.class)
          .hasMessageContaining(each.id().toString())
          .hasMessageContaining("was deleted")
          .hasMessageContaining("renewKeys()");
    }
    assertThat(Fences.token(other).isAfter(unharmed)).isTrue();
    locks.admin().fence(alsoLost.id()).renew(1);
    FencingToken after = Fences.token(lost);
    assertThat(after.isAfter(before)).isTrue();
    assertThat(Fences.token(alsoLost).isAfter(after)).isTrue();
  }

  @Test
  void allKeysAreRenewedByTheirName() throws Exception {
    FenceAdmin fences = locks.admin().fence(LockId.mutex("order"));
    assertThat(fences.renewKeys()).isZero();
    AmqpLock third = locks.mutex(keysOf(3, 1).get(0));
    AmqpLock fourth = locks.mutex(keysOf(4, 1).get(0));
    FencingToken before = Fences.token(third);
    FencingToken also = Fences.token(fourth);
    assertThat(fences.renewKeys()).isEqualTo(2);
    assertThat(Fences.token(third).epoch()).isGreaterThan(before.epoch());
    assertThat(Fences.token(fourth).epoch()).isGreaterThan(also.epoch());
    // As if the broker had been lost with all it knew, whose clock was an hour ahead.
    Fences.clear(broker, fixture.prefix());
    FencingToken seen = new FencingToken(1, before.epoch() + 60, 1234);
    assertThat(fences.renewKeysAbove(seen.number())).isEqualTo(FenceCounter.SHARED);
    AmqpLocks another = fixture.open();
    for (AmqpLock each : List.of(third, fourth)) {
      assertThat(Fences.token(another.lock(each.id())).isAfter(seen)).isTrue();
    }
    assertThatThrownBy(() -> locks.admin().fence(third.id()).renewKeys())
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining(third.id().toString())
        .hasMessageContaining("'order'");
  }

  @Test
  void slotsOfAKeyHaveTokensOfTheirOwnOrder() throws Exception {
    fixture.create(locks, "s:1", 2);
    AmqpLock semaphore = locks.slotSemaphore("s:1").fenced();
    Map<Integer, FencingToken> last = new ConcurrentHashMap<>();
    for (int i = 0; i < 6; i++) {
      try (Lease one = semaphore.acquire(LONG);
          Lease two = semaphore.acquire(LONG)) {
        for (Lease lease : List.of(one, two)) {
          FencingToken before = last.put(lease.slot(), lease.fencingToken());
          assertThat(before == null || lease.fencingToken().isAfter(before)).isTrue();
        }
      }
    }
    assertThat(last).containsOnlyKeys(1, 2);
    assertThat(Fences.queues(broker, fixture.prefix()))
        .hasSize(4)
        .allMatch(queue -> queue.contains(".keyed-semaphore.s."));
  }
}
