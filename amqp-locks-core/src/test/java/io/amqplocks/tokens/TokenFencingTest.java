package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which leases of token semaphores have fencing tokens, and that these rise. */
@BrokerTest(everyLine = true)
class TokenFencingTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Test
  void eachLeaseOfAQuorumQueueHasATokenFencedOrNot() throws Exception {
    AmqpLocks locks = fixture.open();
    locks.admin().tokenSemaphore("s").create(2, TokenQueueType.QUORUM);
    AmqpLock plain = locks.tokenSemaphore("s");
    Map<Integer, FencingToken> last = new HashMap<>();
    for (int i = 0; i < 12; i++) {
      AmqpLock lock = i % 3 == 0 ? plain.fenced() : plain;
      // What was closed before goes back by a message that nobody waits for.
      try (Lease one = lock.acquire(LONG);
          Lease two = plain.acquire(LONG)) {
        assertThat(one.slot()).isNotEqualTo(two.slot());
        for (Lease each : new Lease[] {one, two}) {
          FencingToken token = each.fencingToken();
          assertThat(each.fencingTokenIfAny()).contains(token);
          FencingToken before = last.put(token.slot(), token);
          assertThat(before == null || token.isAfter(before)).isTrue();
          Tokens.verified(each);
          assertThat(each.fencingToken()).as("after a verification").isEqualTo(token);
        }
      }
    }
    assertThat(last).containsOnlyKeys(1, 2);
  }

  /**
   * A lease without a fence moves to another slot's token when it is verified. Whoever waits in the
   * same process is not given its fencing token, which is superseded once the old slot is taken.
   */
  @Test
  void aLeaseThatMovedIsNotHandedOver() throws Exception {
    // A verification more would move it back.
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    locks.admin().tokenSemaphore("s").create(2, TokenQueueType.QUORUM);
    AmqpLock mine = locks.tokenSemaphore("s");
    Lease lease = mine.tryAcquire().orElseThrow();
    FencingToken token = lease.fencingToken();
    for (int i = 0; i < 100 && lease.slot() == token.slot(); i++) {
      Tokens.verified(lease);
    }
    assertThat(lease.slot())
        .as("the token of the other slot, which is idle")
        .isNotEqualTo(token.slot());
    assertThat(lease.fencingToken()).isEqualTo(token);
    FencingToken other;
    try (Lease theirs = fixture.open().tokenSemaphore("s").acquire(LONG)) {
      other = theirs.fencingToken();
      assertThat(other.isAfter(token)).isTrue();
      CompletableFuture<Lease> waiting = mine.acquireAsync(LONG);
      await().until(() -> locks.status().waiting() == 1);
      lease.close();
      try (Lease next = waiting.get(60, TimeUnit.SECONDS)) {
        assertThat(next.fencingToken().slot()).isEqualTo(next.slot());
        assertThat(next.fencingToken().handOvers()).isZero();
      }
    }
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
