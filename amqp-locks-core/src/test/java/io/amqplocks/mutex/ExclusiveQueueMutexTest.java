package io.amqplocks.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockName;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class ExclusiveQueueMutexTest extends MutexContract {

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.exclusiveQueueMutex(name);
  }

  @Override
  protected boolean isHeld(String name) throws Exception {
    return fixture.exists(queue(name));
  }

  @Override
  protected String queue(String name) {
    return fixture.names().exclusiveQueueMutex(LockName.of(name));
  }

  @Test
  void manyThreadsShareOneSessionFromTheStart(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(fixture.prefix()));
    fixture.create(fixture.open(), "s", 3);
    CyclicBarrier start = new CyclicBarrier(32);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      AmqpLock lock = i % 2 == 0 ? locks.exclusiveQueueMutex("m" + i) : locks.slotSemaphore("s");
      all.add(
          threads.submit(
              () -> {
                start.await();
                lock.acquire(LONG).close();
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    // The announcer may still be opening; who waited is told by the side connection.
    String name = fixture.prefix();
    assertThat(broker.faults().connections())
        .filteredOn(each -> each.startsWith(name))
        .doesNotHaveDuplicates()
        .contains(name + " holder", name + " prober")
        .isSubsetOf(name + " holder", name + " prober", name + " side", name + " announcer");
  }
}
