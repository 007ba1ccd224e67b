package io.amqplocks.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.FencedHolderMain;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tokens rise with each acquisition of a slot, whoever acquires it and whatever happens between.
 */
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class FenceTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    fixture.broker().faults().heal();
  }

  private AmqpLock lock(String kind) {
    AmqpLocks locks = fixture.open();
    return kind.equals("mutex") ? locks.mutex("l") : locks.slotSemaphore("l");
  }

  /** Tokens in the order of acquisition, for each slot: written down while it is held. */
  private Map<Integer, List<FencingToken>> draw(String kind, int clients, int each)
      throws Exception {
    Map<Integer, List<FencingToken>> tokens = new ConcurrentHashMap<>();
    List<Callable<Boolean>> holders = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      AmqpLock lock = lock(kind).fenced();
      for (int thread = 0; thread < 2; thread++) {
        holders.add(
            () -> {
              for (int n = 0; n < each; n++) {
                try (Lease lease = lock.acquire(LONG)) {
                  tokens
                      .computeIfAbsent(lease.slot(), slot -> new CopyOnWriteArrayList<>())
                      .add(lease.fencingToken());
                }
              }
              return true;
            });
      }
    }
    for (Future<Boolean> done : threads.invokeAll(holders)) {
      assertThat(done.get()).isTrue();
    }
    return tokens;
  }

  private static void assertRising(List<FencingToken> tokens) {
    for (int i = 1; i < tokens.size(); i++) {
      assertThat(tokens.get(i).isAfter(tokens.get(i - 1))).as(tokens.toString()).isTrue();
      assertThat(tokens.get(i).number()).isGreaterThan(tokens.get(i - 1).number());
    }
  }

  // RabbitMQ's default from 4.0 on would have dropped the counter's message at the 21st return.
  @Tag("trap-8")
  @Test
  void tokensOfAMutexRiseInTheOrderOfItsHolders() throws Exception {
    List<FencingToken> tokens = draw("mutex", 3, 12).getOrDefault(1, List.of());
    assertThat(tokens).hasSize(72);
    assertRising(tokens);
    assertThat(Fences.queues(fixture.broker(), fixture.prefix()))
        .containsExactly(fixture.prefix() + "epoch.mutex.l.1.1", counter("mutex", 1));
  }

  @Tag("trap-8")
  @Test
  void tokensOfEachSlotOfASemaphoreRiseByThemselves() throws Exception {
    fixture.create(fixture.open(), "l", 2);
    Map<Integer, List<FencingToken>> tokens = draw("semaphore", 3, 14);
    assertThat(tokens).containsOnlyKeys(1, 2);
    assertThat(tokens.values().stream().mapToInt(List::size).sum()).isEqualTo(84);
    tokens.forEach(
        (slot, ofSlot) -> {
          assertThat(ofSlot).allMatch(token -> token.slot() == slot);
          assertRising(ofSlot);
        });
  }

  private String counter(String kind, int generation) {
    return fixture.prefix() + "fence." + kind + ".l.1." + generation;
  }

  private record Drawn(String kind, AmqpLock lock, List<FencingToken> tokens) {

    Drawn draw() throws InterruptedException {
      tokens.add(Fences.token(lock));
      return this;
    }
  }

  /** A mutex and a slot at once, for a broker takes its time to start. */
  private void goOnAfter(Runnable outage) throws Exception {
    fixture.create(fixture.open(), "l", 1);
    List<Drawn> both = new ArrayList<>();
    for (String kind : List.of("mutex", "semaphore")) {
      both.add(new Drawn(kind, lock(kind), new ArrayList<>()).draw().draw());
    }
    // A single node that dies right after making a quorum queue forgets its content (ADR 10).
    long made = System.nanoTime();
    await().until(() -> System.nanoTime() - made > Duration.ofSeconds(6).toNanos());
    for (Drawn each : both) {
      each.draw();
    }
    outage.run();
    for (Drawn each : both) {
      List<FencingToken> tokens = each.draw().tokens();
      tokens.add(Fences.token(lock(each.kind())));
      assertThat(tokens).hasSize(5).allMatch(token -> token.epoch() == tokens.get(0).epoch());
      assertRising(tokens);
    }
  }

  @Test
  void theyGoOnAfterTheBrokerWasKilled() throws Exception {
    goOnAfter(
        () -> {
          fixture.broker().faults().kill();
          fixture.broker().faults().start();
        });
  }

  @Test
  void theyGoOnAfterARestart() throws Exception {
    goOnAfter(() -> fixture.broker().faults().restart());
  }

  @ParameterizedTest
  @ValueSource(strings = {"mutex", "semaphore"})
  void theyGoOnAfterAHolderWasKilled(String kind) throws Exception {
    fixture.create(fixture.open(), "l", 1);
    List<Long> numbers = new ArrayList<>();
    // To make a fence takes long, and the holder has short calls.
    Fences.token(lock(kind));
    for (int i = 0; i < 3; i++) {
      try (ChildJvm holder =
          ChildJvm.of(FencedHolderMain.class)
              .args(fixture.broker().uri(), fixture.prefix(), kind + ":l")
              .start()) {
        String held = holder.awaitLine("TOKEN ", Duration.ofSeconds(90));
        numbers.add(Long.parseLong(held.substring("TOKEN ".length())));
        holder.killNow();
      }
      numbers.add(Fences.token(lock(kind)).number());
    }
    assertThat(numbers).hasSize(6).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void aClientThatDiesWithTheMessageInItsHandsCostsANumberAndNoMore() throws Exception {
    AmqpLock lock = lock("mutex");
    FencingToken before = Fences.token(lock);
    Fences.take(fixture.broker(), counter("mutex", 1), false);
    FencingToken after = Fences.token(lock);
    assertThat(after.n()).isEqualTo(before.n() + 2);
  }

  @Test
  void onlyALeaseThatAskedForOneHasAToken() {
    AmqpLock mutex = lock("mutex");
    try (Lease lease = mutex.tryAcquire().orElseThrow()) {
      assertThatThrownBy(lease::fencingToken)
          .isInstanceOf(LockException.NotFenced.class)
          .hasMessageContaining("mutex 'l'")
          .hasMessageContaining("fenced()");
      // It is one lock, fenced or not.
      assertThat(mutex.fenced().tryAcquire()).isEmpty();
    }
    try (Lease lease = mutex.fenced().fenced().tryAcquire().orElseThrow()) {
      assertThat(lease.fencingToken().slot()).isEqualTo(1);
      assertThat(mutex.tryAcquire()).isEmpty();
    }
    assertThat(mutex.fenced().id()).isEqualTo(LockId.mutex("l"));
  }

  @Test
  void aTokenOutlivesItsLease() throws Exception {
    AmqpLock mutex = lock("mutex");
    Lease lease = mutex.fenced().acquire(LONG);
    FencingToken token = lease.fencingToken();
    lease.close();
    assertThat(lease.fencingToken()).isEqualTo(token);
    Map<String, Long> seen = new HashMap<>(Map.of("resource", token.number()));
    assertThat(Fences.token(mutex).number()).isGreaterThan(seen.get("resource"));
  }
}
