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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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
    AtomicReference<FencingToken> last = new AtomicReference<>();
    List<Future<?>> all = new ArrayList<>();
    for (AmqpLock each : List.of(mine, mine, mine.fenced(), lock(fixture.open(), "m"))) {
      all.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 12; i++) {
                  try (Lease lease = each.acquire(LONG)) {
                    FencingToken token = lease.fencingToken();
                    assertThat(lease.fencingTokenIfAny()).contains(token);
                    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
                    FencingToken before = last.getAndSet(token);
                    assertThat(before == null || token.isAfter(before))
                        .as("%s, %s", before, token)
                        .isTrue();
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(120, TimeUnit.SECONDS);
    }
  }
}
