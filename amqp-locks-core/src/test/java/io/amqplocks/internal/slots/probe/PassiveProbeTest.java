package io.amqplocks.internal.slots.probe;

import static io.amqplocks.internal.slots.probe.Presence.ABSENT;
import static io.amqplocks.internal.slots.probe.Presence.PRESENT;
import static io.amqplocks.internal.slots.probe.Presence.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.LockException;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PassiveProbeTest extends ExistenceProbeContract {

  @Override
  ExistenceProbe probe() {
    return new PassiveProbe();
  }

  /** It asks without a message, so it does not matter what a queue does with one. */
  @Tag("trap-3")
  @Test
  void aQueueThatNacksIsPresent(Broker broker) throws Exception {
    ProberSession session = session(broker.connectionFactory());
    assertThat(probe.probe(session.call(), session.prober(), List.of(nacking("nacks"))))
        .containsExactly(PRESENT);
  }

  /** As those of a node that is down do, for a minute. */
  @Tag("trap-6")
  @Test
  void queuesThatHangKeepNobodyFromLookingAtOthers(Broker broker) throws Exception {
    List<String> hanging = new ArrayList<>();
    for (int i = 0; i < PassiveProbe.MOST_CHANNELS; i++) {
      hanging.add(slot("hangs-" + i));
      broker.faults().suspendQueue(hanging.get(i));
    }
    ProberSession session = session(broker.connectionFactory(), BOUND);
    // The first contact may take longer than the bound.
    await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> session.prober().open(session.call()).connection().isOpen());
    assertThat(probe.probe(session.call(), session.prober(), hanging)).containsOnly(UNKNOWN);
    List<String> all = new ArrayList<>(hanging);
    all.add(slot("answers"));
    // The bound is short, and a machine may stall.
    await()
        .untilAsserted(
            () ->
                assertThat(probe.probe(session.call(), session.prober(), all))
                    .endsWith(PRESENT)
                    .hasSize(all.size()));
    hanging.forEach(broker.faults()::resumeQueue);
    await()
        .untilAsserted(
            () ->
                assertThat(probe.probe(session.call(), session.prober(), all))
                    .containsOnly(PRESENT));
  }

  @Tag("trap-4")
  @Test
  void anAlarmDoesNotMatter(Broker broker) throws Exception {
    String held = held("held");
    ProberSession session = session(broker.connectionFactory());
    broker.faults().memoryAlarm(true);
    try {
      long start = System.nanoTime();
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                assertThat(
                        probe.probe(session.call(), session.prober(), List.of(held, prefix + "no")))
                    .containsExactly(PRESENT, ABSENT);
                return System.nanoTime() - start > Duration.ofSeconds(2).toNanos();
              });
      assertThat(session.prober().blocked()).isNotDone();
    } finally {
      broker.faults().memoryAlarm(false);
    }
  }

  /**
   * 3.10 asks for no permission; 4.3.6 for any one on the queue; only 4.2.6 and 4.3.0, which are
   * not here, for configure.
   */
  @Tag("trap-12")
  @Override
  void withoutPermissions(Broker broker, ProberSession session, String held) {
    if (broker.version().isAtLeast(4, 3)) {
      super.withoutPermissions(broker, session, held);
    } else {
      assertThat(probe.probe(session.call(), session.prober(), List.of(held)))
          .containsExactly(PRESENT);
    }
  }

  @Tag("trap-12")
  @Test
  void anyPermissionOnTheQueueWillDo(Broker broker) throws Exception {
    String held = held("held");
    for (int one = 0; one < 3; one++) {
      broker
          .faults()
          .addUser(
              USER,
              "secret",
              one == 0 ? ".*" : "^$",
              one == 1 ? ".*" : "^$",
              one == 2 ? ".*" : "^$");
      try {
        var factory = broker.connectionFactory();
        factory.setUsername(USER);
        factory.setPassword("secret");
        ProberSession session = session(factory);
        assertThat(probe.probe(session.call(), session.prober(), List.of(held, prefix + "no")))
            .as("permission %d", one)
            .containsExactly(PRESENT, ABSENT);
      } finally {
        broker.faults().deleteUser(USER);
      }
    }
  }
}
