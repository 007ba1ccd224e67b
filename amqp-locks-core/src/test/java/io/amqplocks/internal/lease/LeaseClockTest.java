package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Connector;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Real leases on a real broker, under a clock that the test turns. */
@Tag("trap-5")
@BrokerTest
class LeaseClockTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(10);

  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
  private final ExecutorService background = Executors.newCachedThreadPool();
  private final Notices notices = new Notices(List.of(), LockListener.NO_OP, Thread::new);
  private Fixture fixture;
  private Sessions sessions;
  private LeaseBook book;

  @BeforeEach
  void open(Broker broker) {
    fixture = new Fixture(broker);
    ConnectionFactory factory = broker.connectionFactory();
    Connector connector =
        new Connector(
            factory,
            List.of(new Address(broker.host(), broker.port())),
            "clock",
            HEARTBEAT,
            Duration.ofSeconds(5),
            Thread::new);
    sessions =
        new Sessions(
            connector,
            "holder",
            background,
            Thread::new,
            Duration.ofSeconds(5),
            clock::get,
            session -> {});
    book = new LeaseBook(Duration.ofSeconds(5), clock::get, notices, background, Waiters.NONE);
  }

  @AfterEach
  void close() throws Exception {
    sessions.close();
    notices.close();
    background.shutdownNow();
    fixture.close();
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  private Session session(String name) {
    return sessions.current(call(name));
  }

  private Call call(String name) {
    return Call.on(LockId.mutex(name), Duration.ofSeconds(5), clock::get);
  }

  private HeldLease take(String name) {
    Holding holding = new QueueHolding(LockId.mutex(name), 1, fixture.prefix() + name, null);
    HeldLease lease = book.take(call(name), session(name), holding).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    return lease;
  }

  @Test
  void aLeaseIsCertainForAlmostTwoHeartbeatsFromItsLastVerification() {
    HeldLease lease = take("a");
    pass(Duration.ofMillis(17_499));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    pass(Duration.ofMillis(1));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    pass(Duration.ofMillis(17_500));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
  }

  @Test
  void threeSilentHeartbeatsLoseAllLeasesWithoutAskingAnybody() {
    HeldLease lease = take("a");
    HeldLease other = take("b");
    Session session = session("a");
    pass(HEARTBEAT.multipliedBy(3));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.lossReason())
        .hasValueSatisfying(
            reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.EXPIRED));
    assertThat(other.state()).isEqualTo(LeaseState.LOST);
    assertThat(session.isOpen()).isFalse();
    assertThat(lease.whenLost().toCompletableFuture()).succeedsWithin(Duration.ofMinutes(1));
    await().until(() -> !fixture.exists(fixture.prefix() + "a"));
    assertThat(take("a").state()).isEqualTo(LeaseState.HELD);
  }

  @Test
  void aLeaseIsNotLostForWantOfVerificationWhileTheBrokerAnswersOthers() {
    HeldLease lease = take("a");
    HeldLease other = take("b");
    pass(Duration.ofSeconds(20));
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    pass(Duration.ofSeconds(15));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
  }
}
