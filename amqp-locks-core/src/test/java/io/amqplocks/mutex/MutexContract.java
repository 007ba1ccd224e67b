package io.amqplocks.mutex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockContract;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What mutexes do that need not be created, whatever they are held by. */
public abstract class MutexContract extends LockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {}

  /** The queue of the mutex. */
  protected abstract String queue(String name);

  @Tag("trap-14")
  @Test
  void aHolderHearsAtOnceThatItsQueueWasDeleted(Broker broker) throws Exception {
    Recorder recorder = new Recorder();
    String kind = lock(fixture.open(), "m").id().kind().label();
    AmqpLocks locks = fixture.open(fixture.seldomVerifying().listener(recorder));
    Lease lease = lock(locks, "m").tryAcquire().orElseThrow();
    Lease other = lock(locks, "other").tryAcquire().orElseThrow();
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
                        "acquired " + kind + " 'm'",
                        "acquired " + kind + " 'other'",
                        "lost " + kind + " 'm' REVOKED"));
    await().until(() -> lock(locks, "m").tryAcquire().isPresent());
  }

  /** A close waits for its notices for a second. A busy machine may stall for longer. */
  @Test
  void closingReleasesManyAndLosesNone() {
    int told = 0;
    for (int round = 0; round < 3 && told < 200; round++) {
      told = toldByClosing(round);
    }
    assertThat(told).isEqualTo(200);
  }

  /** How many releases the close of as many leases tells of. */
  private int toldByClosing(int round) {
    Recorder recorder = new Recorder();
    AmqpLocks locks = fixture.open(fixture.builder().listener(recorder));
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      leases.add(lock(locks, "m" + round + "-" + i).tryAcquire().orElseThrow());
    }
    assertThat(locks.status().held()).isEqualTo(200);
    locks.close();
    assertThat(leases).allMatch(lease -> lease.state() == LeaseState.RELEASED);
    assertThat(recorder.heard).filteredOn(heard -> heard.startsWith("lost")).isEmpty();
    return (int) recorder.heard.stream().filter(heard -> heard.startsWith("released")).count();
  }
}
