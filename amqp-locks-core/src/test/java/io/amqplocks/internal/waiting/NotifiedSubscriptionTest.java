package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.exclusive.ExclusiveQueueMutexClaim;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.wakeup.WakeQueues;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which of its attempts show that a holder did not notify. */
@BrokerTest
class NotifiedSubscriptionTest {

  private static final LockId LOCK = LockId.slotSemaphore("s");

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final Deque<Claim> free = new ArrayDeque<>();
  private ClockedClient client;
  private NotifiedSubscription subscription;
  private String wake;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(30));
    QueueNames names = fixture.names();
    wake = names.wake(LOCK);
    subscription = subscribe(this::next, () -> {});
  }

  private NotifiedSubscription subscribe(Claim claim, Runnable notified) {
    return new NotifiedSubscription(
        claim,
        client.session(),
        wake,
        WakeQueues.of(client.session()).listen(client.call(LOCK), wake, name -> false, notified));
  }

  @AfterEach
  void close() {
    subscription.close();
    client.close();
  }

  private Optional<HeldLease> next(Call call, Session session) {
    return Optional.ofNullable(free.poll()).flatMap(slot -> slot.attempt(call, session));
  }

  /** Exclusive queues stand for slots. */
  private void free(String... slots) {
    for (String slot : slots) {
      free.add(
          new ExclusiveQueueMutexClaim(
              fixture.names().mutex(LockName.of(slot)), client.registry()));
    }
  }

  private boolean attempt() {
    return subscription.attempt(client.call(LOCK)).isPresent();
  }

  private boolean look() {
    long pause = subscription.pauseNanos();
    client.pass(Duration.ofNanos(pause));
    return attempt();
  }

  private boolean areExpected() {
    return UnannouncedReleases.of(client.session())
        .areExpected(wake, client.call(LOCK).ticker().nanos());
  }

  @Test
  void oneLookThatIsFollowedByAnotherAttemptIsOneRelease() {
    assertThat(attempt()).isFalse();
    free("one", "two");
    assertThat(look()).isTrue();
    // For the next waiter, at once.
    assertThat(attempt()).isTrue();
    assertThat(areExpected()).isFalse();
    free("three");
    assertThat(look()).isTrue();
    assertThat(areExpected()).isTrue();
  }

  /** The lock may be free, and another waiter may have better luck. */
  @Test
  void whatAFailedAttemptWasNotifiedOfIsPassedOn() {
    subscription.close();
    AtomicBoolean notified = new AtomicBoolean();
    AtomicBoolean passedOn = new AtomicBoolean();
    NotifiedSubscription failing =
        subscribe(
            (call, session) -> {
              throw new LockException.Unanswered("by the test");
            },
            () -> notified.set(true));
    WakeQueues.of(client.session()).tell(LOCK, wake, () -> {});
    await().untilTrue(notified);
    assertThatThrownBy(() -> failing.attempt(client.call(LOCK)))
        .isInstanceOf(LockException.Unanswered.class);
    subscription = subscribe(this::next, () -> passedOn.set(true));
    assertThat(passedOn).isFalse();
    failing.close();
    await().untilTrue(passedOn);
  }
}
