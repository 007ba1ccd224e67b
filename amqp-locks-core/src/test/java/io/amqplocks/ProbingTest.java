package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A semaphore works the same whichever way it looks for its slots. */
@BrokerTest(everyLine = true, ownBroker = true)
class ProbingTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(4);

  private Fixture fixture;

  @BeforeEach
  void fixture(Broker broker) {
    fixture = new Fixture(broker);
  }

  @AfterEach
  void close() throws Exception {
    fixture.close();
  }

  private AmqpLocks probing(ProbeKind kind) {
    return fixture.open(
        fixture.builder().heartbeat(HEARTBEAT).callTimeout(HEARTBEAT).probing(kind));
  }

  @ParameterizedTest
  @EnumSource(ProbeKind.class)
  void allSlotsAndNoMore(ProbeKind kind) {
    AmqpLocks locks = probing(kind);
    fixture.create(locks, "s", 20);
    AmqpLocks byDefault = fixture.open();
    for (int i = 0; i < 20; i++) {
      assertThat((i % 2 == 0 ? locks : byDefault).semaphore("s").tryAcquire()).isPresent();
    }
    assertThat(locks.semaphore("s").tryAcquire()).isEmpty();
    assertThat(byDefault.semaphore("s").tryAcquire()).isEmpty();
    assertThat(locks.admin().semaphore("s").count()).isEqualTo(20);
    assertThatThrownBy(() -> locks.semaphore("none").tryAcquire())
        .isInstanceOf(LockException.NotFound.class);
  }

  /** For four heartbeats, which is when a connection that publishes would be gone. */
  @Tag("trap-4")
  @Test
  void withPassiveProbesAnAlarmStopsNothing(Broker broker) {
    AmqpLocks locks = probing(ProbeKind.PASSIVE);
    fixture.create(locks, "s", 2);
    Lease first = locks.semaphore("s").tryAcquire().orElseThrow();
    broker.faults().memoryAlarm(true);
    try {
      long start = System.nanoTime();
      while (System.nanoTime() - start < HEARTBEAT.multipliedBy(4).toNanos()) {
        try (Lease second = locks.semaphore("s").tryAcquire().orElseThrow()) {
          assertThat(locks.semaphore("s").tryAcquire()).isEmpty();
          assertThat(second.verify()).isEqualTo(LeaseState.HELD);
          assertThat(locks.admin().semaphore("s").count()).isEqualTo(2);
        }
      }
      try (AmqpLocks late = fixture.builder().probing(ProbeKind.PASSIVE).build()) {
        late.semaphore("s").tryAcquire().orElseThrow().close();
      }
      assertThat(locks.status().blocked()).isFalse();
      assertThat(first.state()).isEqualTo(LeaseState.HELD);
    } finally {
      broker.faults().memoryAlarm(false);
    }
  }
}
