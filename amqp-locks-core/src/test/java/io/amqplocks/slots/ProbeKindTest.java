package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A semaphore works the same whichever way it looks for its slots. */
@BrokerTest(everyLine = true, ownBroker = true)
class ProbeKindTest {

  private static final Duration HEARTBEAT = Duration.ofSeconds(4);

  @RegisterExtension private final Fixture fixture = new Fixture();

  @ParameterizedTest
  @EnumSource(ProbeKind.class)
  void allSlotsAndNoMore(ProbeKind kind) {
    AmqpLocks locks = fixture.open(fixture.builder().probing(kind));
    fixture.create(locks, "s", 20);
    AmqpLocks byDefault = fixture.open();
    for (int i = 0; i < 20; i++) {
      assertThat((i % 2 == 0 ? locks : byDefault).slotSemaphore("s").tryAcquire()).isPresent();
    }
    assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
    assertThat(byDefault.slotSemaphore("s").tryAcquire()).isEmpty();
    assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(20);
    assertThatThrownBy(() -> locks.slotSemaphore("none").tryAcquire())
        .isInstanceOf(LockException.NotFound.class);
  }

  /** For four heartbeats, which is when a connection that publishes would be gone. */
  @Tag("trap-4")
  @Test
  void withPassiveProbesAnAlarmStopsNothing(Broker broker) {
    AmqpLocks locks =
        fixture.open(
            fixture
                .builder()
                .heartbeat(HEARTBEAT)
                .callTimeout(HEARTBEAT)
                .probing(ProbeKind.PASSIVE));
    // By another way: to look for a thousand queues one by one may take longer than a call.
    fixture.create(fixture.open(), "s", 2);
    Lease first = Fixture.first(locks.slotSemaphore("s"));
    broker.faults().memoryAlarm(true);
    try {
      long end = System.nanoTime() + HEARTBEAT.multipliedBy(4).toNanos();
      await()
          .atMost(Duration.ofMinutes(2))
          // A stall is one, and nobody is asked in vain for so long.
          .ignoreExceptionsMatching(
              e -> e instanceof LockException.Unanswered || e instanceof NoSuchElementException)
          .until(
              () -> {
                try (Lease second = locks.slotSemaphore("s").tryAcquire().orElseThrow()) {
                  assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
                  LeaseState state = second.verify();
                  assertThat(state).isNotEqualTo(LeaseState.LOST);
                  if (state != LeaseState.HELD) {
                    return false;
                  }
                  assertThat(locks.admin().slotSemaphore("s").count()).isEqualTo(2);
                }
                return System.nanoTime() - end > 0;
              });
      try (AmqpLocks late = fixture.builder().probing(ProbeKind.PASSIVE).build()) {
        late.slotSemaphore("s").tryAcquire().orElseThrow().close();
      }
      // The notifications of the releases are stopped, and nothing else.
      await().until(() -> locks.status().blocked());
      await().until(() -> first.state() == LeaseState.HELD);
    } finally {
      broker.faults().memoryAlarm(false);
    }
  }
}
