package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.exclusive.ExclusiveQueueMutexClaim;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockArgument;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes free between an attempt and the moment from which one is told is not missed. */
@BrokerTest(everyLine = true)
class FrontWaiterTest {

  private static final LockId LOCK = LockId.mutex("l");

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient mine;
  private ClockedClient theirs;
  private Claim claim;

  /** By that much the clock of the calls is ahead. */
  private final AtomicLong passed = new AtomicLong();

  @BeforeEach
  void open(Broker broker) {
    mine = new ClockedClient(broker, Duration.ofSeconds(10));
    theirs = new ClockedClient(broker, Duration.ofSeconds(10));
    QueueNames names = fixture.names();
    claim =
        new NotifiedClaim(
            new ExclusiveQueueMutexClaim(names.mutex(LOCK.name()), mine.registry()),
            names.wake(LOCK),
            name -> false);
  }

  @AfterEach
  void close() throws Exception {
    mine.close();
    theirs.close();
  }

  private HeldLease theirLease() {
    ExclusiveQueueMutexClaim claim =
        new ExclusiveQueueMutexClaim(fixture.names().mutex(LOCK.name()), theirs.registry());
    return claim.attempt(theirs.call(LOCK), theirs.session()).orElseThrow();
  }

  private FrontWaiter front(Claim used) {
    return new FrontWaiter(
        wanted -> used,
        mine.sessions(),
        wanted -> Call.on(LOCK, Duration.ofSeconds(5), () -> System.nanoTime() + passed.get()),
        Variant.PLAIN);
  }

  private static Optional<HeldLease> attempt(FrontWaiter front) {
    AcquireDeadline deadline =
        new AcquireDeadline(LOCK, Variant.PLAIN, Duration.ofMinutes(1), Ticker.SYSTEM);
    return front.attempt(Variant.PLAIN, deadline, () -> {});
  }

  @Test
  void whatComesFreeBeforeOneIsToldIsFoundByTheSecondTry() {
    HeldLease held = theirLease();
    Claim freedInBetween =
        new Claim() {
          @Override
          public Optional<HeldLease> attempt(Call call, Session session) {
            return claim.attempt(call, session);
          }

          @Override
          public Subscription subscribe(Call call, Session session, Runnable wake) {
            // Their client announces nothing, so nobody would be told of it later either.
            held.close();
            return claim.subscribe(call, session, wake);
          }
        };
    FrontWaiter front = front(freedInBetween);
    Optional<HeldLease> lease = attempt(front);
    assertThat(lease).isPresent();
    assertThat(lease.orElseThrow().verify()).isEqualTo(LeaseState.HELD);
    front.close();
  }

  @Test
  void theWakeQueueIsTriedAgainByOneWhoWaitsWithoutIt() throws Exception {
    HeldLease held = theirLease();
    String wakeQueue = fixture.names().wake(LOCK);
    FrontWaiter front = front(claim);
    try (Connection stranger = fixture.stranger()) {
      stranger.createChannel().queueDeclare(wakeQueue, false, true, false, null);
      assertThat(attempt(front)).isEmpty();
    }
    // The broker deletes the queue of a closed connection a moment later.
    await().until(() -> !fixture.exists(wakeQueue));
    for (int attempts = 0; attempts < 3; attempts++) {
      passed.addAndGet(Duration.ofMinutes(1).toNanos());
      assertThat(attempt(front)).isEmpty();
    }
    try (Connection stranger = fixture.stranger()) {
      AMQP.Queue.DeclareOk there = stranger.createChannel().queueDeclarePassive(wakeQueue);
      assertThat(there.getConsumerCount()).isEqualTo(1);
    }
    front.close();
    held.close();
  }

  /** What such a try could not tell may be told by the subscription, which also says if not. */
  @Test
  void whoMayWaitTriesAsOneWhoSubscribesNext() {
    LockException failure = new LockException.Unanswered("for a test");
    Subscription unsure =
        new Subscription() {
          @Override
          public Optional<HeldLease> attempt(Call call) {
            return Optional.empty();
          }

          @Override
          public Optional<LockException> failure() {
            return Optional.of(failure);
          }

          @Override
          public long pauseNanos() {
            return 0;
          }

          @Override
          public void close() {}
        };
    Claim silent =
        new Claim() {
          @Override
          public Optional<HeldLease> attempt(Call call, Session session) {
            throw new AssertionError("it may wait");
          }

          @Override
          public Optional<HeldLease> attemptBeforeWaiting(Call call, Session session) {
            return Optional.empty();
          }

          @Override
          public Subscription subscribe(Call call, Session session, Runnable wake) {
            return unsure;
          }
        };
    AcquireDeadline deadline =
        new AcquireDeadline(LOCK, Variant.PLAIN, Duration.ofMinutes(1), Ticker.SYSTEM);
    FrontWaiter front = front(silent);
    assertThat(front.attempt(Variant.PLAIN, deadline, () -> {})).isEmpty();
    assertThat(front.pauseNanos()).as("the subscription is kept").isZero();
    assertThat(deadline.end(null)).isSameAs(failure);
    front.close();
  }

  @Test
  void whatIsHeldIsNotHad() {
    HeldLease held = theirLease();
    FrontWaiter front = front(claim);
    assertThat(attempt(front)).isEmpty();
    held.close();
    assertThat(attempt(front)).isPresent();
    front.close();
  }

  /**
   * A mutex is acquired by subscribing, if there is time: a subscription may have its message a
   * moment after its first attempt.
   */
  @Test
  void whoMayNotWaitTriesAndWhoMayWaitSubscribes() {
    MutexClaim mutex = new MutexClaim(fixture.names().mutex(LOCK.name()), mine.registry());
    List<String> asked = new CopyOnWriteArrayList<>();
    Claim recorded =
        new Claim() {
          @Override
          public Optional<HeldLease> attempt(Call call, Session session) {
            asked.add("attempt");
            return mutex.attempt(call, session);
          }

          @Override
          public boolean isAcquiredBySubscribing(LockId lock) {
            return mutex.isAcquiredBySubscribing(lock);
          }

          @Override
          public Subscription subscribe(Call call, Session session, Runnable wake) {
            asked.add("subscribe");
            return mutex.subscribe(call, session, wake);
          }
        };
    FrontWaiter front = front(recorded);
    AcquireDeadline over = new AcquireDeadline(LOCK, Variant.PLAIN, Duration.ZERO, Ticker.SYSTEM);
    Optional<HeldLease> lease = front.attempt(Variant.PLAIN, over, () -> {});
    assertThat(asked).containsExactly("attempt");
    assertThat(lease.orElseThrow().verify()).isEqualTo(LeaseState.HELD);
    assertThat(attempt(front)).isEmpty();
    assertThat(asked).containsExactly("attempt", "subscribe");
    lease.orElseThrow().close();
    await().until(() -> attempt(front).isPresent());
    assertThat(asked).containsExactly("attempt", "subscribe");
    front.close();
  }

  /** Whatever it throws: what the vigil was told of must not be met by the next attempt. */
  @Tag("defect-S3")
  @Test
  void anAttemptThatThrowsEndsTheVigil() {
    HeldLease held = theirLease();
    AtomicInteger closed = new AtomicInteger();
    Claim refused =
        new Claim() {
          @Override
          public Optional<HeldLease> attempt(Call call, Session session) {
            return claim.attempt(call, session);
          }

          @Override
          public Subscription subscribe(Call call, Session session, Runnable wake) {
            Subscription real = claim.subscribe(call, session, wake);
            return new Subscription() {
              @Override
              public Optional<HeldLease> attempt(Call call) {
                throw new LockException.FenceUnavailable("the broker counts nothing");
              }

              @Override
              public boolean isOver() {
                return real.isOver();
              }

              @Override
              public long pauseNanos() {
                return real.pauseNanos();
              }

              @Override
              public void close() {
                closed.incrementAndGet();
                real.close();
              }
            };
          }
        };
    FrontWaiter front = front(refused);
    for (int i = 1; i <= 2; i++) {
      assertThatThrownBy(() -> attempt(front)).isInstanceOf(LockException.FenceUnavailable.class);
      assertThat(closed).hasValue(i);
    }
    front.close();
    assertThat(closed).hasValue(2);
    held.close();
  }

  /** The first use of a name may take two connections. The lock is nobody's all the same. */
  @ParameterizedTest
  @ValueSource(strings = {"mutex:m", "write:m"})
  void aWaitThatIsShorterThanTheSubscriptionEndsWithAnAttempt(String name) throws Exception {
    AmqpLocks locks = fixture.open();
    locks.connect();
    for (int i = 0; i < 10; i++) {
      LockArgument.lock(locks, name + i).acquire(Duration.ofMillis(1 + i % 5)).close();
    }
  }

  /** The alarm for the next one is not worth the place of the first. */
  @Test
  void oneLeavesThoughThereIsNoThreadForTheAlarm() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1) {
          @Override
          public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            throw new OutOfMemoryError("for a test");
          }
        };
    WaitQueues queues = new WaitQueues(System::nanoTime, timer);
    WaitQueues.Ticket first = queues.join(LOCK, Variant.PLAIN, () -> front(claim), null);
    WaitQueues.Ticket second = queues.join(LOCK, Variant.PLAIN, () -> front(claim), null);
    assertThat(first.place().next().action()).isEqualTo(Step.Action.TRY);
    first.place().tried(false, Duration.ofSeconds(1).toNanos(), null);
    queues.leave(first);
    assertThat(queues.waitingByLock()).containsExactly(Map.entry(LOCK, 1));
    queues.leave(second);
    assertThat(queues.waitingByLock()).isEmpty();
    timer.shutdown();
  }
}
