package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** "For ever", as users say it: more than a long has nanoseconds for. */
@BrokerTest
class LongestTimesTest {

  private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

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
}
