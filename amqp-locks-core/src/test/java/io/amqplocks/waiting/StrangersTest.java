package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Waiters beside a client of the guidelines that knows nothing of wake queues: it notifies nobody
 * when it releases the lock, and takes it again a moment later.
 */
@BrokerTest(everyLine = true)
class StrangersTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  /** By rare looks alone a waiter gets it nine times in that time, with luck 21 times. */
  private static final int ENOUGH = 25;

  private static final Duration BOUND = Duration.ofSeconds(30);

  private static final long HOLD_MILLIS = 10;
  private static final long PAUSE_MILLIS = 3;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch over = new CountDownLatch(1);
  private final AtomicInteger strangers = new AtomicInteger();
  private final AtomicInteger ours = new AtomicInteger();
  @RegisterExtension private final Fixture fixture = new Fixture();
  private Connection connection;
  private String queue = "";

  @BeforeEach
  void open(Broker broker) throws Exception {
    connection = broker.connectionFactory().newConnection("stranger");
  }

  @AfterEach
  void close() throws Exception {
    over.countDown();
    threads.shutdownNow();
    connection.abort(1000);
  }

  private AmqpLock lock(AmqpLocks locks, LockKind kind) {
    LockId id = new LockId(kind, LockId.mutex("m").name());
    queue =
        switch (kind) {
          case SLOT_SEMAPHORE -> {
            fixture.create(locks, "m", 1);
            yield fixture.names().holder(id.name(), 1);
          }
          default -> fixture.names().exclusiveQueueMutex(id.name());
        };
    return locks.lock(id);
  }

  /** As a client of the guidelines does it. False if the lock is busy, which closes the channel. */
  private boolean taken(Channel channel) {
    try {
      channel.queueDeclare(
          queue,
          false,
          true,
          false,
          Map.of("x-queue-type", "classic", "x-max-length", 0, "x-overflow", "drop-head"));
      return true;
    } catch (IOException busy) {
      return false;
    }
  }

  private void release(Channel channel) throws IOException {
    channel.queueDelete(queue);
  }

  private Void beAStranger() throws Exception {
    Channel channel = connection.createChannel();
    while (over.getCount() > 0) {
      if (taken(channel)) {
        var unused = over.await(HOLD_MILLIS, TimeUnit.MILLISECONDS);
        release(channel);
        strangers.incrementAndGet();
      } else {
        channel = connection.createChannel();
      }
      var unused = over.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
    return null;
  }

  private Void beOneOfUs(AmqpLock lock) throws Exception {
    while (over.getCount() > 0) {
      try (Lease lease = lock.acquire(LONG)) {
        ours.incrementAndGet();
        var unused = over.await(HOLD_MILLIS, TimeUnit.MILLISECONDS);
      }
    }
    return null;
  }

  @ParameterizedTest
  @EnumSource(names = {"EXCLUSIVE_QUEUE_MUTEX", "SLOT_SEMAPHORE"})
  void aStrangerDoesNotStarveUs(LockKind kind) throws Exception {
    AmqpLock lock = lock(fixture.open(), kind);
    Future<Void> stranger = threads.submit(() -> beAStranger());
    await().until(() -> strangers.get() > 5);
    int before = strangers.get();
    Future<Void> waiter = threads.submit(() -> beOneOfUs(lock));
    try {
      await().atMost(BOUND).until(() -> ours.get() >= ENOUGH);
    } finally {
      System.out.printf(
          "%s: %d holds of ours beside %d of a stranger%n",
          kind, ours.get(), strangers.get() - before);
    }
    over.countDown();
    stranger.get(30, TimeUnit.SECONDS);
    waiter.get(90, TimeUnit.SECONDS);
  }

  /** Nobody is notified, so the waiter does not look before half a second has passed. */
  @ParameterizedTest
  @EnumSource(names = {"EXCLUSIVE_QUEUE_MUTEX", "SLOT_SEMAPHORE"})
  void aTryAsksTheBrokerThoughOthersWait(LockKind kind) throws Exception {
    AmqpLock lock = lock(fixture.open(), kind);
    Channel channel = connection.createChannel();
    int sooner = 0;
    // A waiter's look, or its first try, may be faster, on a busy machine more than once.
    for (int i = 0; i < 20 && sooner < 2; i++) {
      assertThat(await().until(() -> taken(channel), taken -> taken)).isTrue();
      CompletableFuture<Lease> waiter = lock.acquireAsync(LONG);
      fixture.awaitConsumers(fixture.names().wake(lock.id()), 1);
      release(channel);
      Optional<Lease> tried = lock.tryAcquire();
      sooner += tried.isPresent() ? 1 : 0;
      tried.ifPresent(Lease::close);
      waiter.get(60, TimeUnit.SECONDS).close();
    }
    assertThat(sooner).isGreaterThanOrEqualTo(2);
  }

  /** An outage is not "busy", though others wait. */
  @Test
  void aTryFailsIfTheBrokerIsUnreachableThoughOthersWait(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks =
          fixture.connected(fixture.builder(factory).callTimeout(Duration.ofSeconds(2)));
      AmqpLock lock = locks.exclusiveQueueMutex("m");
      try (Lease lease = fixture.open().exclusiveQueueMutex("m").acquire(LONG)) {
        // A machine that stalls may not answer within that bound.
        assertThat(
                await()
                    .ignoreExceptionsInstanceOf(LockException.class)
                    .until(lock::tryAcquire, Objects::nonNull))
            .isEmpty();
        CompletableFuture<Lease> waiter = lock.acquireAsync(LONG);
        await().until(() -> locks.status().waiting() == 1);
        proxy.blackHole(Direction.CLIENT_TO_BROKER);
        assertThatThrownBy(lock::tryAcquire)
            .isInstanceOfAny(LockException.Unreachable.class, LockException.Unanswered.class);
        assertThat(waiter.cancel(true)).isTrue();
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
      }
    }
  }

  /** The request of the first is still on its way; nobody said that the lock is busy. */
  @Test
  void aTryBesideAnUnansweredOneIsNotAnsweredEither(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks = fixture.open(fixture.builder(factory).callTimeout(Duration.ofSeconds(1)));
      AmqpLock lock = locks.exclusiveQueueMutex("m");
      Fixture.first(lock).close();
      proxy.blackHole(Direction.CLIENT_TO_BROKER);
      CompletableFuture<Optional<Lease>> first = CompletableFuture.supplyAsync(lock::tryAcquire);
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockException.Unanswered.class);
      }
      assertThatThrownBy(first::join).hasCauseInstanceOf(LockException.Unanswered.class);
      assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockException.Unanswered.class);
    }
  }
}
