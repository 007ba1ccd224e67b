package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Of all who wait, in whichever process, those with the highest priority are served first. */
@BrokerTest(everyLine = true)
class TokenPriorityTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<String> served = new CopyOnWriteArrayList<>();
  private final List<Future<?>> waiting = new ArrayList<>();
  private final Set<AmqpLocks> consuming = new HashSet<>();
  private int before;
  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks one;
  private AmqpLocks two;
  private AmqpLocks three;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    one = fixture.open();
    two = fixture.open();
    three = fixture.open();
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  /** The one token there is; all those who will wait for it are connected by then. */
  private Lease only(TokenQueueType type) throws Exception {
    AmqpLocks holder = fixture.open();
    holder.admin().tokenSemaphore("s").create(1, type);
    for (AmqpLocks process : List.of(one, two, three)) {
      Fixture.first(process.tokenSemaphore("s")).close();
    }
    Lease held = Fixture.first(holder.tokenSemaphore("s"));
    // It is held by a consumer from then on.
    held.verify();
    before = consumers();
    return held;
  }

  private void waits(AmqpLocks process, String name, int priority, Duration patience) {
    AmqpLock lock = process.tokenSemaphore("s").withPriority(priority);
    int others = process.status().waiting();
    waiting.add(
        threads.submit(
            () -> {
              try (Lease lease = lock.acquire(patience)) {
                served.add(name);
              } catch (LockException.AcquireTimeout e) {
                served.add(name + " gave up");
              }
              return null;
            }));
    await().until(() -> process.status().waiting() == others + 1);
    consuming.add(process);
    theBrokerKnows();
  }

  private void theBrokerKnows() {
    await().until(() -> consumers() == before + consuming.size());
  }

  private int consumers() throws Exception {
    return Tokens.consumers(broker, fixture.names(), LockId.tokenSemaphore("s"));
  }

  /** A consumer cannot be seen to be replaced by one with another priority. */
  private void theBrokerKnowsThePriority() {
    // By looks and not by a clock: this process may be the one that stalls.
    AtomicInteger looks = new AtomicInteger();
    await().pollInterval(Duration.ofMillis(100)).until(() -> looks.incrementAndGet() > 20);
    theBrokerKnows();
  }

  private void allAreServed() throws Exception {
    for (Future<?> each : waiting) {
      each.get(90, TimeUnit.SECONDS);
    }
  }

  @ParameterizedTest
  @EnumSource
  void betweenProcesses(TokenQueueType type) throws Exception {
    try (Lease held = only(type)) {
      waits(one, "0", 0, LONG);
      waits(two, "5", 5, LONG);
      waits(three, "-1", -1, LONG);
      waits(fixture.open(), "2", 2, LONG);
    }
    allAreServed();
    assertThat(served).containsExactly("5", "2", "0", "-1");
  }

  @ParameterizedTest
  @EnumSource
  void withinAProcess(TokenQueueType type) throws Exception {
    try (Lease held = only(type)) {
      waits(one, "0", 0, LONG);
      waits(one, "5", 5, LONG);
      waits(one, "2", 2, LONG);
    }
    allAreServed();
    assertThat(served).containsExactly("5", "2", "0");
  }

  /** The broker hears of it when one comes whose priority is higher than that of all before. */
  @ParameterizedTest
  @EnumSource
  void aProcessRaisesItsPriorityWithItsWaiters(TokenQueueType type) throws Exception {
    try (Lease held = only(type)) {
      waits(one, "0", 0, LONG);
      waits(two, "5", 5, LONG);
      waits(one, "9", 9, LONG);
      theBrokerKnowsThePriority();
    }
    allAreServed();
    assertThat(served.get(0)).isEqualTo("9");
  }

  @ParameterizedTest
  @EnumSource
  void aProcessLowersItsPriorityWithItsWaiters(TokenQueueType type) throws Exception {
    try (Lease held = only(type)) {
      // By then the others wait too, on a busy machine as well.
      waits(one, "9", 9, Duration.ofSeconds(15));
      waits(one, "0", 0, LONG);
      waits(two, "5", 5, LONG);
      await().until(() -> served.contains("9 gave up"));
      theBrokerKnowsThePriority();
    }
    allAreServed();
    assertThat(served).containsExactly("9 gave up", "5", "0");
  }

  @ParameterizedTest
  @EnumSource
  void equalPrioritiesTakeTurns(TokenQueueType type) throws Exception {
    int rounds = 20;
    try (Lease held = only(type)) {
      for (AmqpLocks process : List.of(one, two, three)) {
        AmqpLock lock = process.tokenSemaphore("s").withPriority(3);
        String name = "process " + process.hashCode();
        waiting.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < rounds; i++) {
                    try (Lease lease = lock.acquire(LONG)) {
                      served.add(name);
                      // Longer than one that has had its turn takes to wait again.
                      LockSupport.parkNanos(100_000_000);
                    }
                  }
                  return null;
                }));
        await().until(() -> process.status().waiting() == 1);
        consuming.add(process);
      }
      theBrokerKnows();
    }
    allAreServed();
    // When the first one has had all of its turns, none of the others was left far behind.
    String first = served.get(0);
    int last = served.lastIndexOf(first);
    for (AmqpLocks process : List.of(one, two, three)) {
      String name = "process " + process.hashCode();
      assertThat(served.subList(0, last + 1).stream().filter(name::equals).count())
          .as("turns of %s until %s was done", name, first)
          // One that starved would have had none or one; a thread that stalls loses some.
          .isBetween(rounds / 5L, (long) rounds);
    }
  }

  @Test
  void slotsHaveNone() {
    assertThatThrownBy(() -> one.slotSemaphore("s").withPriority(1))
        .isInstanceOf(LockException.Invalid.class);
  }
}
