package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.internal.waiting.QueuedLock.Context;
import io.amqplocks.internal.waiting.QueuedLock.Variant;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What comes free between an attempt and the moment from which one is told is not missed. */
@BrokerTest(everyLine = true)
class HeadTest {

  private static final LockId LOCK = LockId.mutex("l");

  private final ScheduledExecutorService threads = Executors.newSingleThreadScheduledExecutor();
  private Fixture fixture;
  private ClockedClient mine;
  private ClockedClient theirs;
  private Claim claim;

  @BeforeEach
  void open(Broker broker) {
    fixture = new Fixture(broker);
    mine = new ClockedClient(broker, Duration.ofSeconds(10));
    theirs = new ClockedClient(broker, Duration.ofSeconds(10));
    QueueNames names = fixture.names();
    claim =
        new WokenClaim(
            new MutexClaim(names.mutex(LOCK.name()), mine.book()), names.wake(LOCK), name -> false);
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    mine.close();
    theirs.close();
    fixture.close();
  }

  private HeldLease theirLease() {
    MutexClaim claim = new MutexClaim(fixture.names().mutex(LOCK.name()), theirs.book());
    return claim.attempt(theirs.call(LOCK), theirs.session()).orElseThrow();
  }

  private Head head(Claim used) {
    WaitingLines lines = new WaitingLines(Ticker.SYSTEM::nanos, threads);
    Context context =
        new Context(
            mine.sessions(),
            lines,
            mine.notices(),
            Duration.ofSeconds(5),
            Ticker.SYSTEM,
            threads,
            Runnable::run,
            threads);
    return new Head(new QueuedLock(LOCK, wanted -> used, Variant.PLAIN, LOCK, context));
  }

  private static Optional<HeldLease> attempt(Head head) {
    Patience patience = new Patience(LOCK, Duration.ofMinutes(1), Ticker.SYSTEM);
    return head.attempt(Variant.PLAIN, patience, () -> {});
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
          public Vigil keepVigil(Call call, Session session, Runnable wake) {
            // Their client announces nothing, so nobody would be told of it later either.
            held.close();
            return claim.keepVigil(call, session, wake);
          }
        };
    Head head = head(freedInBetween);
    Optional<HeldLease> lease = attempt(head);
    assertThat(lease).isPresent();
    assertThat(lease.orElseThrow().verify()).isEqualTo(LeaseState.HELD);
    head.close();
  }

  @Test
  void whatIsHeldIsNotHad() {
    HeldLease held = theirLease();
    Head head = head(claim);
    assertThat(attempt(head)).isEmpty();
    held.close();
    assertThat(attempt(head)).isPresent();
    head.close();
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
          public Vigil keepVigil(Call call, Session session, Runnable wake) {
            Vigil real = claim.keepVigil(call, session, wake);
            return new Vigil() {
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
    Head head = head(refused);
    for (int i = 1; i <= 2; i++) {
      assertThatThrownBy(() -> attempt(head)).isInstanceOf(LockException.FenceUnavailable.class);
      assertThat(closed).hasValue(i);
    }
    head.close();
    assertThat(closed).hasValue(2);
    held.close();
  }
}
