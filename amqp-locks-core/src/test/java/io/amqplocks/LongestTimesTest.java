package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** "For ever", as users say it: more than a long has nanoseconds for. And its negative. */
@BrokerTest
class LongestTimesTest {

  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

  private static final Duration OVER_LONG_AGO = Duration.ofSeconds(Long.MIN_VALUE);

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void aCloseWaitsForTheHolder() throws Exception {
    AmqpLocks locks = fixture.open();
    Lease lease = locks.mutex("m").acquire(FOR_EVER);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(() -> locks.close(FOR_EVER));
    // Before the close has begun, it has a lease, for which the close would wait as well.
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> locks.mutex("other").tryAcquire().ifPresent(Lease::close))
                    .isInstanceOf(LockException.Closed.class));
    assertThat(lease.state()).isEqualTo(LeaseState.HELD);
    assertThat(closing).isNotDone();
    lease.close();
    closing.get(60, TimeUnit.SECONDS);
  }

  @Test
  void anAdministratorWaitsNoLongerThanItHasTo() throws Exception {
    TokenSemaphoreAdmin admin = fixture.open().admin().tokenSemaphore("s");
    // An audit of classic tokens takes all the time that it is given.
    admin.create(2, TokenQueueType.QUORUM);
    assertThat(admin.audit(FOR_EVER).isClean()).isTrue();
    assertThat(admin.awaitWithdrawn(FOR_EVER)).isTrue();
  }

  /** As the difference of two times may be. It ends at once, and not in 292 years. */
  @Test
  @Timeout(60)
  void aTimeThatIsOverIsNotWaitedFor() throws Exception {
    AmqpLocks locks = fixture.open();
    TokenSemaphoreAdmin tokens = locks.admin().tokenSemaphore("s");
    tokens.create(2, TokenQueueType.CLASSIC);
    fixture.create(locks, "f", 1);
    SlotSemaphoreAdmin slots = locks.admin().slotSemaphore("f");
    Lease slot = locks.slotSemaphore("f").acquire(FOR_EVER);
    Lease token = locks.tokenSemaphore("s").withPermits(2).acquire(FOR_EVER);
    var unused = tokens.resize(1);
    assertThat(tokens.awaitWithdrawn(OVER_LONG_AGO)).isFalse();
    assertThat(tokens.audit(OVER_LONG_AGO)).isNotNull();
    var unusedSlots = slots.resize(0);
    assertThat(slots.awaitDrained(Set.of(1), OVER_LONG_AGO)).isFalse();
    locks.close(OVER_LONG_AGO);
    assertThat(List.of(slot.state(), token.state())).containsOnly(LeaseState.RELEASED);
  }
}
