package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class FencedMutexTest extends LockContract {

  @Override
  void make(AmqpLocks locks, String name) {}

  @Override
  AmqpLock lock(AmqpLocks locks, String name) {
    return locks.fencedMutex(name);
  }

  @Override
  boolean isHeld(String name) throws Exception {
    LockId id = LockId.fencedMutex(name);
    String queue = fixture.names().tokens(id, Tokens.generation(broker(), fixture.names(), id));
    return fixture.exists(queue) && Tokens.idle(broker(), queue).isEmpty();
  }

  @AfterEach
  void clear(Broker broker) throws Exception {
    fixture.close();
    Tokens.clear(broker, fixture.prefix());
  }

  /** Each lease has its own token, also when the next one waits in the same process. */
  @Test
  @Override
  void fencedItHasTokensThatRise() throws Exception {
    AmqpLock mine = lock(fixture.open(), "m");
    List<AmqpLock> all = List.of(mine, lock(fixture.open(), "m"), mine.fenced());
    FencingToken last = null;
    for (int i = 0; i < 50; i++) {
      try (Lease lease = all.get(i % 3).acquire(LONG)) {
        FencingToken token = lease.fencingToken();
        assertThat(lease.fencingTokenIfAny()).contains(token);
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        assertThat(last == null || token.isAfter(last)).as("%s, %s", last, token).isTrue();
        last = token;
      }
    }
  }
}
