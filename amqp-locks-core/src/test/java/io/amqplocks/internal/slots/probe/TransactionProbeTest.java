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

class TransactionProbeTest extends ExistenceProbeContract {

  @Override
  ExistenceProbe probe() {
    return new TransactionProbe();
  }

  /** A transaction tells less than confirms: what came back is absent, the rest stays open. */
  @Tag("trap-2")
  @Tag("trap-3")
  @Test
  void aQueueThatNacksLeavesItsBatchUnknown(Broker broker) throws Exception {
    String held = held("held");
    String nacks = nacking("nacks");
    ProberSession session = session(broker.connectionFactory());
    for (int i = 0; i < 50; i++) {
      assertThat(probe.probe(session.call(), session.prober(), List.of(held, nacks, prefix + "no")))
          .containsExactly(UNKNOWN, UNKNOWN, ABSENT);
    }
    assertThat(probe.probe(session.call(), session.prober(), List.of(held, prefix + "no")))
        .containsExactly(PRESENT, ABSENT);
  }
}
