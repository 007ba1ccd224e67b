package io.amqplocks.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockContract;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class ExclusiveQueueMutexTest extends LockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {}

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.exclusiveQueueMutex(name);
  }

  @Override
  protected boolean isHeld(String name) throws Exception {
    return fixture.exists(queue(name));
  }

  private String queue(String name) {
    return fixture.names().exclusiveQueueMutex(LockName.of(name));
  }

  @Tag("trap-1")
  @Test
  void oneHolderAmongThreadsOfOneConnection() throws Exception {
    AmqpLock mutex = fixture.open().exclusiveQueueMutex("m");
    for (int round = 0; round < 50; round++) {
      CyclicBarrier start = new CyclicBarrier(2);
      List<Future<Optional<Lease>>> tries = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        tries.add(
            threads.submit(
                () -> {
                  start.await();
                  return mutex.tryAcquire();
                }));
      }
      List<Lease> won = new ArrayList<>();
      for (Future<Optional<Lease>> each : tries) {
        each.get().ifPresent(won::add);
      }
      assertThat(won).hasSize(1);
      won.get(0).close();
    }
  }

  @Tag("trap-14")
  @Test
  void aHolderHearsAtOnceThatItsQueueWasDeleted(Broker broker) throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.seldomVerifying().listener(recorder));
    Lease lease = locks.exclusiveQueueMutex("m").tryAcquire().orElseThrow();
    Lease other = locks.exclusiveQueueMutex("other").tryAcquire().orElseThrow();
    CompletableFuture<String> heard = new CompletableFuture<>();
    lease.whenLost().thenAccept(reason -> heard.complete(reason.toString()));
    broker.faults().deleteQueue(queue("m"));
    assertThat(heard.get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS))
        .contains("REVOKED")
        .contains(queue("m"));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    assertThat(locks.status().held()).isEqualTo(1);
    await()
        .untilAsserted(
            () ->
                assertThat(locks.status().lastLoss())
                    .hasValueSatisfying(loss -> assertThat(loss).contains("'m'")));
    lease.close();
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    await()
        .untilAsserted(
            () ->
                assertThat(recorder.heard)
                    .containsExactly(
                        "session opened",
                        "acquired exclusive-queue mutex 'm'",
                        "acquired exclusive-queue mutex 'other'",
                        "lost exclusive-queue mutex 'm' REVOKED"));
    await().until(() -> locks.exclusiveQueueMutex("m").tryAcquire().isPresent());
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
      each.get(30, TimeUnit.SECONDS);
    }
    // The announcer may still be opening; who waited is told by the side connection.
    String name = fixture.prefix();
    assertThat(broker.faults().connections())
        .filteredOn(each -> each.startsWith(name))
        .doesNotHaveDuplicates()
        .contains(name + " holder", name + " prober")
        .isSubsetOf(name + " holder", name + " prober", name + " side", name + " announcer");
  }

  @Test
  void closingReleasesManyAndLosesNone() throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.builder().listener(recorder));
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      leases.add(locks.exclusiveQueueMutex("m" + i).tryAcquire().orElseThrow());
    }
    assertThat(locks.status().held()).isEqualTo(200);
    locks.close();
    assertThat(leases).allMatch(lease -> lease.state() == LeaseState.RELEASED);
    assertThat(recorder.heard).filteredOn(heard -> heard.startsWith("lost")).isEmpty();
    assertThat(recorder.heard).filteredOn(heard -> heard.startsWith("released")).hasSize(200);
  }
}
