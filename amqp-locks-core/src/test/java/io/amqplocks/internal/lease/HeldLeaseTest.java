package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.DelegatingHolding;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a lease says when answers take their time, and when its loss is told more than once. */
@Tag("trap-5")
@BrokerTest
class HeldLeaseTest {

  private static final LockId LOCK = LockId.mutex("l");

  /** For so long a lease is certain, with a heartbeat of ten seconds. */
  private static final Duration CERTAIN = Duration.ofMillis(17_500);

  private static final Duration UNDER_WAY = Duration.ofSeconds(4);

  private final Recorder recorder = new Recorder();
  private final AtomicInteger told = new AtomicInteger();
  private Fixture fixture;
  private ClockedClient client;

  @BeforeEach
  void open(Broker broker) {
    fixture = new Fixture(broker);
    client = new ClockedClient(broker, Duration.ofSeconds(10), Waiters.NONE, recorder);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    fixture.close();
  }

  private Holding queue() {
    return new QueueHolding(LOCK, 1, fixture.prefix() + "b", null);
  }

  private HeldLease take(Holding holding) {
    HeldLease lease =
        client.book().take(client.call(LOCK), client.session(), holding).orElseThrow();
    lease.announce(Duration.ZERO, LockObserver.Attempt.NO_OP);
    return lease;
  }

  private void requireCertainForNoLongerThan(Duration time, HeldLease lease) {
    client.pass(time.minusNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    client.pass(Duration.ofNanos(1));
    assertThat(lease.state()).isEqualTo(LeaseState.UNCERTAIN);
  }

  /** What the broker does from when it was asked on is unknown, however late its answer is. */
  @Test
  void isCertainFromItsRequestOnAndNotFromTheAnswer() {
    HeldLease lease =
        take(
            new DelegatingHolding(queue()) {
              @Override
              public Standing standing(Call call, Session session) {
                Standing answer = super.standing(call, session);
                client.pass(UNDER_WAY);
                return answer;
              }
            });
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    requireCertainForNoLongerThan(CERTAIN.minus(UNDER_WAY), lease);
    client.book().verify(client.session()).join();
    requireCertainForNoLongerThan(CERTAIN.minus(UNDER_WAY), lease);
  }

  @Test
  void andSoItIsWhenItIsWon() {
    HeldLease lease =
        take(
            new DelegatingHolding(queue()) {
              @Override
              public boolean contend(Call call, Session session) {
                boolean won = super.contend(call, session);
                client.pass(UNDER_WAY.dividedBy(2));
                return won;
              }

              @Override
              public boolean secure(Call call, Session session, Runnable revoked) {
                boolean secured = super.secure(call, session, revoked);
                client.pass(UNDER_WAY.dividedBy(2));
                return secured;
              }
            });
    requireCertainForNoLongerThan(CERTAIN.minus(UNDER_WAY), lease);
  }

  @Test
  void isLostOnceHoweverOftenThatIsSaid() {
    HeldLease lease = take(queue());
    lease.whenLost().thenAccept(reason -> told.incrementAndGet());
    lease.revoked();
    lease.revoked();
    assertThat(lease.lose(new LossReason(LossReason.Cause.SLOT_REMOVED, "said later"))).isFalse();
    client.session().end(new LossReason(LossReason.Cause.SESSION_ENDED, "said last"));
    lease.close();
    // Tells what is still to be told.
    client.notices().close();
    assertThat(told).hasValue(1);
    assertThat(recorder.heard).containsExactly("acquired mutex 'l'", "lost mutex 'l' REVOKED");
    assertThat(lease.lossReason())
        .hasValueSatisfying(
            reason -> assertThat(reason.cause()).isEqualTo(LossReason.Cause.REVOKED));
  }

  @Test
  void whatIsReleasedIsNotLostAnyMore() {
    HeldLease lease = take(queue());
    lease.close();
    lease.revoked();
    client.session().end(new LossReason(LossReason.Cause.SESSION_ENDED, "by the test"));
    client.notices().close();
    assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
    assertThat(recorder.heard).containsExactly("acquired mutex 'l'", "released mutex 'l'");
  }
}
