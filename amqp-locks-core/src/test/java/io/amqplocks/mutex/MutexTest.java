package io.amqplocks.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@BrokerTest(everyLine = true)
class MutexTest extends MutexContract {

  private AmqpLocks onlooker;

  @BeforeEach
  void openOnlooker() throws Exception {
    onlooker = fixture.open();
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.mutex(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return onlooker.admin().mutex(name).isHeld();
  }

  /** A release is not confirmed: the broker has it a moment later. */
  @Override
  protected void isFree(String name) {
    await().until(() -> !isHeld(name));
  }

  @Override
  protected String queue(String name) {
    return fixture.names().mutex(LockName.of(name));
  }

  /** One of several clients holds, whatever the number of messages in the queue. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3})
  void oneHolderAmongManyClients(int surplus) throws Exception {
    List<AmqpLock> mutexes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      mutexes.add(fixture.open().mutex("m"));
    }
    mutexes.get(0).tryAcquire().orElseThrow().close();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      AtomicInteger leases = new AtomicInteger();
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        AmqpLock mutex = mutexes.get(i % 4);
        boolean waits = i < 4;
        all.add(
            threads.submit(
                () -> {
                  for (int n = 0; n < 100; n++) {
                    Optional<Lease> lease =
                        waits ? Optional.of(mutex.acquire(LONG)) : mutex.tryAcquire();
                    if (lease.isPresent()) {
                      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      assertThat(lease.get().state()).isEqualTo(LeaseState.HELD);
                      leases.incrementAndGet();
                      inside.decrementAndGet();
                      lease.get().close();
                    }
                  }
                  return null;
                }));
      }
      for (int i = 0; i < surplus; i++) {
        channel.basicPublish("", queue("m"), null, new byte[0]);
      }
      for (Future<?> each : all) {
        each.get(120, TimeUnit.SECONDS);
      }
      assertThat(most).hasValue(1);
      assertThat(leases.get()).isGreaterThanOrEqualTo(400);
    }
    isFree("m");
  }

  /** Waiters of different processes are served in the order of their arrival. */
  @Test
  void waitersOfManyProcessesAreServedInOrder() throws Exception {
    Lease first = fixture.open().mutex("m").tryAcquire().orElseThrow();
    List<Integer> order = new ArrayList<>();
    List<Future<?>> waiting = new ArrayList<>();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      for (int i = 0; i < 5; i++) {
        int number = i;
        AmqpLock mutex = fixture.open().mutex("m");
        waiting.add(
            threads.submit(
                () -> {
                  try (Lease lease = mutex.acquire(LONG)) {
                    order.add(number);
                  }
                  return null;
                }));
        await().until(() -> channel.consumerCount(queue("m")) == number + 2);
      }
    }
    first.close();
    for (Future<?> each : waiting) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void aWaiterGoesOnWhenTheQueueIsDeleted(Broker broker) throws Exception {
    Lease lease = fixture.open().mutex("m").tryAcquire().orElseThrow();
    AmqpLocks locks = fixture.open();
    Future<Lease> waiting = threads.submit(() -> locks.mutex("m").acquire(LONG));
    await().until(() -> locks.status().waiting() == 1);
    broker.faults().deleteQueue(queue("m"));
    waiting.get(30, TimeUnit.SECONDS).close();
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
  }

  @Test
  void verificationsAreManyWhileOthersWaitAndTry() throws Exception {
    Lease lease = fixture.open().mutex("m").tryAcquire().orElseThrow();
    AmqpLocks others = fixture.open();
    Future<Lease> waiting = threads.submit(() -> others.mutex("m").acquire(LONG));
    await().until(() -> others.status().waiting() == 1);
    AmqpLock third = fixture.open().mutex("m");
    CompletableFuture<Void> stop = new CompletableFuture<>();
    AtomicInteger tries = new AtomicInteger();
    Future<?> trying =
        threads.submit(
            () -> {
              while (!stop.isDone()) {
                assertThat(third.tryAcquire()).isEmpty();
                tries.incrementAndGet();
              }
              return null;
            });
    await().until(() -> tries.get() > 0 || trying.isDone());
    int before = tries.get();
    for (int i = 0; i < 300; i++) {
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      assertThat(waiting.isDone()).isFalse();
    }
    stop.complete(null);
    trying.get(30, TimeUnit.SECONDS);
    assertThat(tries).as("tries meanwhile").hasValueGreaterThan(before);
    lease.close();
    waiting.get(30, TimeUnit.SECONDS).close();
  }

  /**
   * A purge, a message that a stranger took, or a restart of the broker: nothing is left to send.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLostMessageIsReplaced(boolean waited) throws Exception {
    AmqpLocks locks = fixture.open();
    locks.mutex("m").tryAcquire().orElseThrow().close();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      await().until(() -> channel.queuePurge(queue("m")).getMessageCount() == 1);
      AmqpLock mutex = locks.mutex("m");
      try (Lease lease = waited ? mutex.acquire(LONG) : mutex.tryAcquire().orElseThrow()) {
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        assertThat(fixture.open().mutex("m").tryAcquire()).isEmpty();
      }
    }
  }

  /** The queue of a held mutex does not expire; that of an unused one does, and is made again. */
  @Test
  void anExpiredQueueIsMadeAgain(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open();
    locks.mutex("m").tryAcquire().orElseThrow().close();
    broker.faults().deleteQueue(queue("m"));
    locks.mutex("m").tryAcquire().orElseThrow().close();
    broker.faults().deleteQueue(queue("m"));
    locks.mutex("m").acquire(LONG).close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "quorum", "exclusive", "stream"})
  void aQueueOfAnotherKindIsRefused(String kind) throws Exception {
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      Map<String, Object> arguments =
          kind.equals("quorum") || kind.equals("stream") ? Map.of("x-queue-type", kind) : Map.of();
      boolean exclusive = kind.equals("exclusive");
      channel.queueDeclare(queue("m"), !exclusive, exclusive, false, arguments);
      AmqpLocks locks = fixture.open();
      for (Duration wait : List.of(Duration.ZERO, LONG)) {
        assertThatThrownBy(() -> locks.mutex("m").acquire(wait))
            .isInstanceOf(LockException.Conflict.class)
            .hasMessageContaining("mutex 'm'")
            .hasMessageContaining(queue("m"))
            .hasMessageContaining("delete it");
      }
      assertThat(locks.status().held()).isZero();
    }
  }

  /** Clients that used the old queue remember it; a plain queue would serve both of them. */
  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void aQueueThatWasReplacedIsRefusedByThoseWhoKnewIt(int messages) throws Exception {
    List<AmqpLocks> clients = List.of(fixture.open(), fixture.open());
    for (AmqpLocks client : clients) {
      client.mutex("m").acquire(LONG).close();
    }
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      channel.queueDelete(queue("m"));
      channel.queueDeclare(queue("m"), true, false, false, null);
      for (int i = 0; i < messages; i++) {
        channel.basicPublish("", queue("m"), null, new byte[0]);
      }
      await().until(() -> channel.messageCount(queue("m")) == messages);
      for (AmqpLocks client : clients) {
        assertThatThrownBy(() -> client.mutex("m").acquire(LONG))
            .isInstanceOf(LockException.Conflict.class);
        assertThatThrownBy(() -> client.mutex("m").tryAcquire())
            .isInstanceOf(LockException.Conflict.class);
        await().until(() -> channel.messageCount(queue("m")) == messages);
      }
    }
  }

  /** Processes that disagree about the algorithm get an error. */
  @Test
  void theExclusiveQueueMutexOfThatNameIsNotForgotten() throws Exception {
    AmqpLocks locks = fixture.open();
    try (Lease lease = locks.exclusiveQueueMutex("m").tryAcquire().orElseThrow()) {
      assertThatThrownBy(() -> locks.mutex("m").tryAcquire())
          .isInstanceOf(LockException.Conflict.class);
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
    try (Lease lease = locks.mutex("m").tryAcquire().orElseThrow()) {
      assertThatThrownBy(
              () ->
                  assertThat(fixture.open().exclusiveQueueMutex("m").tryAcquire())
                      .as("what is held elsewhere")
                      .isPresent())
          .hasMessageContaining("m");
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  /** They have the same queue, and only the mutex needs the message in it. */
  @Test
  void aLookAtTheExclusiveQueueMutexOfThatNameTakesNoMessage() throws Exception {
    AmqpLocks locks = fixture.open();
    locks.mutex("m").tryAcquire().orElseThrow().close();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      await().until(() -> channel.messageCount(queue("m")) > 0);
      long before = channel.messageCount(queue("m"));
      assertThat(locks.admin().exclusiveQueueMutex("m").isHeld()).isTrue();
      assertThat(channel.messageCount(queue("m"))).isEqualTo(before);
    }
  }

  /** A stranger's messages do not make a second holder, and are not sent to waiters. */
  @Test
  void aStrangersMessagesChangeNothing() throws Exception {
    Lease lease = fixture.open().mutex("m").tryAcquire().orElseThrow();
    AmqpLocks others = fixture.open();
    Future<Lease> waiting = threads.submit(() -> others.mutex("m").acquire(LONG));
    await().until(() -> others.status().waiting() == 1);
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      channel.confirmSelect();
      for (int i = 0; i < 100; i++) {
        channel.basicPublish(
            "", queue("m"), new AMQP.BasicProperties(), new byte[i % 10 == 0 ? 100_000 : 1]);
        if (i % 10 == 0) {
          channel.waitForConfirms(20_000);
          assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        }
      }
      assertThat(waiting.isDone()).isFalse();
      channel.waitForConfirms(20_000);
      await().until(() -> channel.messageCount(queue("m")) == 1);
    }
    lease.close();
    waiting.get(30, TimeUnit.SECONDS).close();
  }
}
