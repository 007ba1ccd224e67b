package io.amqplocks.internal.slots.probe;

import static io.amqplocks.internal.slots.probe.Presence.ABSENT;
import static io.amqplocks.internal.slots.probe.Presence.PRESENT;
import static io.amqplocks.internal.slots.probe.Presence.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConfirmProbeTest extends ExistenceProbeContract {

  @Override
  ExistenceProbe probe() {
    return new ConfirmProbe();
  }

  /** A nack is neither yes nor no, and concerns no other queue. */
  @Tag("trap-2")
  @Tag("trap-3")
  @Test
  void aQueueThatNacksIsUnknown(Broker broker) throws Exception {
    String held = held("held");
    String nacks = nacking("nacks");
    ProberSession session = session(broker.connectionFactory());
    for (int i = 0; i < 3; i++) {
      assertThat(
              probe.probe(
                  session.call(), session.prober(), List.of(held, nacks, prefix + "no", held)))
          .containsExactly(PRESENT, UNKNOWN, ABSENT, PRESENT);
    }
  }
}
