package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which leases of token semaphores have fencing tokens, and that these rise. */
@BrokerTest(everyLine = true)
class TokenFencingTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void eachLeaseOfAQuorumQueueHasATokenFencedOrNot() {
    AmqpLocks locks = fixture.open();
    locks.admin().tokenSemaphore("s").create(2, TokenQueueType.QUORUM);
    AmqpLock plain = locks.tokenSemaphore("s");
    Map<Integer, FencingToken> last = new HashMap<>();
    for (int i = 0; i < 12; i++) {
      AmqpLock lock = i % 3 == 0 ? plain.fenced() : plain;
      try (Lease one = lock.tryAcquire().orElseThrow();
          Lease two = plain.tryAcquire().orElseThrow()) {
        assertThat(one.slot()).isNotEqualTo(two.slot());
        for (Lease each : new Lease[] {one, two}) {
          FencingToken token = each.fencingToken();
          assertThat(each.fencingTokenIfAny()).contains(token);
          FencingToken before = last.put(token.slot(), token);
          assertThat(before == null || token.isAfter(before)).isTrue();
          assertThat(each.verify()).isEqualTo(LeaseState.HELD);
          assertThat(each.fencingToken()).as("after a verification").isEqualTo(token);
        }
      }
    }
    assertThat(last).containsOnlyKeys(1, 2);
  }

  @Test
  void aClassicQueueCountsNothing() {
    AmqpLocks locks = fixture.open();
    locks.admin().tokenSemaphore("s").create(1, TokenQueueType.CLASSIC);
    try (Lease lease = locks.tokenSemaphore("s").tryAcquire().orElseThrow()) {
      assertThat(lease.fencingTokenIfAny()).isEmpty();
      assertThatThrownBy(lease::fencingToken)
          .isInstanceOf(LockException.NotFenced.class)
          .hasMessageContaining("token semaphore 's'");
    }
  }
}
