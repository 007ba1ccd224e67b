package io.amqplocks.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.FenceAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fence whose counter was lost or spoilt gives no tokens until an administrator renews it. */
@BrokerTest(everyLine = true)
class FenceFaultTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks locks;
  private AmqpLock mutex;
  private FenceAdmin fence;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    locks = fixture.open();
    mutex = locks.mutex("l");
    fence = locks.admin().fence(LockId.mutex("l"));
  }

  /** One that waits for an empty counter not as long as a slow broker may need to make one. */
  private AmqpLock hasty() {
    return fixture.connected(fixture.builder().callTimeout(Duration.ofSeconds(3))).mutex("l");
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    broker.faults().heal();
  }

  private String counter(int generation) {
    return fixture.prefix() + "fence.mutex.l.1." + generation;
  }

  private String epoch(int generation) {
    return fixture.prefix() + "epoch.mutex.l.1." + generation;
  }

  private void assertUnavailable(AmqpLock lock, String why) throws InterruptedException {
    assertThatThrownBy(() -> lock.fenced().acquire(Duration.ofSeconds(30)))
        .isInstanceOf(LockException.FenceUnavailable.class)
        .hasMessageContaining(lock.id().toString())
        .hasMessageContaining(why);
    // What was begun is undone.
    lock.acquire(Duration.ofSeconds(30)).close();
  }

  private void assertRenewable(FencingToken before) throws Exception {
    long epoch = fence.renew(1);
    FencingToken after = Fences.token(mutex);
    assertThat(after.epoch()).isEqualTo(epoch).isGreaterThan(before.epoch());
    assertThat(after.isAfter(before)).isTrue();
    FencingToken elsewhere = Fences.token(fixture.open().mutex("l"));
    assertThat(elsewhere.isAfter(after)).isTrue();
  }

  @Test
  void aDeletedCounterIsNotMadeAnew() throws Exception {
    FencingToken before = Fences.token(mutex);
    broker.faults().deleteQueue(counter(1));
    assertUnavailable(mutex, "was deleted");
    // Nor by one that never saw it.
    assertUnavailable(fixture.open().mutex("l"), "was deleted");
    assertRenewable(before);
    assertThat(Fences.queues(broker, fixture.prefix()))
        .containsExactly(epoch(1), epoch(2), counter(2));
  }

  /**
   * A client that remembers the counter, and one that does not and finds no epoch queue, such as
   * after the loss of that queue's node.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void aLostEpochQueueLeavesNoTwoCounters(int renewals) throws Exception {
    List<FencingToken> tokens = new java.util.ArrayList<>();
    tokens.add(Fences.token(mutex));
    for (int i = 0; i < renewals; i++) {
      fence.renew(1);
    }
    tokens.add(Fences.token(mutex));
    broker.faults().deleteQueue(epoch(1));
    tokens.add(Fences.token(mutex));
    AmqpLock other = fixture.open().mutex("l");
    for (int i = 0; i < 3; i++) {
      tokens.add(Fences.token(other));
      tokens.add(Fences.token(mutex));
    }
    assertThat(Fences.token(fixture.open().mutex("l")).isAfter(tokens.get(tokens.size() - 1)))
        .isTrue();
    for (int i = 1; i < tokens.size(); i++) {
      assertThat(tokens.get(i).isAfter(tokens.get(i - 1))).as("%s", tokens).isTrue();
    }
    assertRenewable(tokens.get(tokens.size() - 1));
  }

  /** As OPERATIONS says what to do when the broker lost everything. */
  @Test
  void aClientThatRemembersALaterCounterGoesOnWithTheFirstOne() throws Exception {
    FencingToken first = Fences.token(mutex);
    fence.renew(1);
    FencingToken before = Fences.token(mutex);
    assertThat(before.isAfter(first)).isTrue();
    List.of(counter(2), epoch(2), epoch(1)).forEach(broker.faults()::deleteQueue);
    assertUnavailable(mutex, "was deleted");
    long unused = fence.renewAbove(1, before.number());
    FencingToken after = Fences.token(mutex);
    assertThat(after.isAfter(before)).isTrue();
    assertThat(Fences.token(fixture.open().mutex("l")).isAfter(after)).isTrue();
  }

  @Test
  void aMessageThatIsGoneIsNotReplaced() throws Exception {
    FencingToken before = Fences.token(mutex);
    Fences.take(broker, counter(1), true);
    assertUnavailable(hasty(), "was empty for 3000 ms");
    assertRenewable(before);
  }

  @Tag("trap-11")
  @Test
  void twoMessagesAreNoCounter() throws Exception {
    FencingToken before = Fences.token(mutex);
    Fences.publish(broker, counter(1), Fences.take(broker, counter(1), false));
    assertUnavailable(mutex, "more than one message");
    assertRenewable(before);
  }

  @Test
  void aForeignMessageIsNoCounter() throws Exception {
    FencingToken before = Fences.token(mutex);
    Fences.take(broker, counter(1), true);
    Fences.publish(broker, counter(1), "epoch 99999999");
    assertUnavailable(mutex, "foreign message");
    assertRenewable(before);
  }

  @Test
  void aCounterOfAnotherMajorVersionOfTheBrokerIsNotRead() throws Exception {
    FencingToken before = Fences.token(mutex);
    String content = Fences.take(broker, counter(1), true);
    Fences.publish(broker, counter(1), content.replaceAll("\\d+$", "2"));
    assertUnavailable(mutex, "counts anew");
    assertRenewable(before);
  }

  @Test
  void renewalNeedsNoReasonAndNoClock() throws Exception {
    FencingToken token = Fences.token(mutex);
    for (int i = 0; i < 3; i++) {
      assertRenewable(token);
      token = Fences.token(mutex);
    }
    // As if a broker had been lost with all it knew, whose clock was an hour ahead.
    FencingToken seen = new FencingToken(1, token.epoch() + 60, 1234);
    assertThat(fence.renewAbove(1, seen.number())).isGreaterThan(seen.epoch());
    assertThat(Fences.token(mutex).isAfter(seen)).isTrue();
    assertThatThrownBy(() -> fence.renew(2))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("mutex 'l'");
  }

  @Test
  void renewalTakesNothingFromTheHolder() throws Exception {
    try (Lease lease = mutex.fenced().acquire(Duration.ofSeconds(10))) {
      fence.renew(1);
      assertThat(lease.verify()).isEqualTo(io.amqplocks.lock.LeaseState.HELD);
      assertThat(mutex.tryAcquire()).isEmpty();
    }
  }

  @Tag("trap-11")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatADeadMakerLeftIsNotUsed(boolean filled) throws Exception {
    String left = counter(1);
    try (com.rabbitmq.client.Connection connection =
        broker.connectionFactory().newConnection("stranger")) {
      connection
          .createChannel()
          .queueDeclare(left, true, false, false, java.util.Map.of("x-queue-type", "quorum"));
    }
    if (filled) {
      Fences.publish(broker, left, "epoch 3 on RabbitMQ " + broker.version().major());
    }
    FencingToken token = Fences.token(mutex);
    assertThat(token.epoch()).isGreaterThan(3);
    assertThat(Fences.queues(broker, fixture.prefix()))
        .containsExactly(epoch(1), epoch(2), counter(2));
    assertThat(Fences.token(mutex).isAfter(token)).isTrue();
  }

  @Test
  void administratorsAtOnceAndHoldersBetweenThemSeeTokensRise() throws Exception {
    List<FencingToken> tokens = new CopyOnWriteArrayList<>();
    List<CompletableFuture<Void>> renewals =
        IntStream.range(0, 4)
            .mapToObj(
                i -> {
                  FenceAdmin admin = fixture.open().admin().fence(LockId.mutex("l"));
                  return CompletableFuture.runAsync(
                      () -> IntStream.range(0, 3).forEach(n -> admin.renew(1)), threads);
                })
            .toList();
    CompletableFuture<Void> all =
        CompletableFuture.allOf(renewals.toArray(CompletableFuture[]::new));
    List<Future<Object>> holders = new java.util.ArrayList<>();
    for (int i = 0; i < 2; i++) {
      AmqpLock lock = fixture.open().mutex("l").fenced();
      holders.add(
          threads.submit(
              () -> {
                while (!all.isDone()) {
                  try (Lease lease = lock.acquire(Duration.ofSeconds(30))) {
                    tokens.add(lease.fencingToken());
                  } catch (LockException.FenceUnavailable e) {
                    // Between the old counter and the new one.
                    assertThat(e).hasMessageContaining("was deleted");
                  }
                }
                return null;
              }));
    }
    all.get(180, TimeUnit.SECONDS);
    for (Future<Object> holder : holders) {
      holder.get(60, TimeUnit.SECONDS);
    }
    tokens.add(Fences.token(mutex));
    assertThat(tokens.stream().map(FencingToken::number)).isSorted().doesNotHaveDuplicates();
    assertThat(tokens.stream().map(FencingToken::epoch).distinct()).hasSizeGreaterThan(1);
    // At the last one there were twelve renewals, and never two counters at once.
    assertThat(Fences.queues(broker, fixture.prefix()))
        .filteredOn(queue -> queue.contains(".fence."))
        .hasSize(1);
  }

  @Tag("trap-8")
  @ParameterizedTest
  @ValueSource(strings = {"{\"message-ttl\":0}", "{\"max-length\":0}", "{\"delivery-limit\":2}"})
  void aPolicyThatDropsTheCounterIsFoundOutBeforeThereIsOne(String definition) throws Exception {
    // Not on the mutex's own queue, which needs its message.
    broker
        .faults()
        .setPolicy("fence", "^" + fixture.prefix() + "(fence|epoch)", "queues", definition);
    // From 4.3 on a nack does not count against the limit, so it does no harm.
    if (definition.contains("delivery") && broker.version().isAtLeast(4, 3)) {
      FencingToken last = Fences.token(mutex);
      for (int i = 0; i < 30; i++) {
        FencingToken next = Fences.token(mutex);
        assertThat(next.isAfter(last)).isTrue();
        last = next;
      }
      return;
    }
    assertUnavailable(mutex, "policy");
    assertThat(Fences.queues(broker, fixture.prefix())).isEmpty();
    broker.faults().clearPolicy("fence");
    assertThat(Fences.token(mutex)).isNotNull();
  }

  @Tag("trap-8")
  @Test
  void aPolicyThatComesLaterStopsTheFenceButNeverTurnsItBack() throws Exception {
    FencingToken last = Fences.token(mutex);
    broker.faults().setPolicy("fence", "^" + fixture.prefix(), "queues", "{\"message-ttl\":0}");
    try {
      for (int i = 0; i < 30; i++) {
        FencingToken next = Fences.token(mutex);
        assertThat(next.isAfter(last)).isTrue();
        last = next;
      }
    } catch (LockException.FenceUnavailable e) {
      broker.faults().clearPolicy("fence");
      assertUnavailable(hasty(), "was empty");
    }
    broker.faults().clearPolicy("fence");
    assertRenewable(last);
  }
}
