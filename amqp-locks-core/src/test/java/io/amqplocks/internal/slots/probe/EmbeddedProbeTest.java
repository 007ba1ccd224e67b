package io.amqplocks.internal.slots.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** On the broker in the JVM a nack says nothing, and the return after it says "absent". */
@BrokerTest(embedded = true)
class EmbeddedProbeTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @ParameterizedTest
  @EnumSource
  void eachAnswerIsCertainAndOfItsOwnBatch(ProbeKind kind) throws Exception {
    String queue = fixture.prefix() + "held";
    ExistenceProbe probe = ExistenceProbe.of(kind);
    try (Connection owner = fixture.stranger();
        ProberSession session =
            new ProberSession(
                fixture.broker().connectionFactory(), "probing", Duration.ofSeconds(10))) {
      Channel channel = owner.createChannel();
      for (int i = 0; i < 50; i++) {
        assertThat(probe.probe(session.call(), session.prober(), List.of(queue)))
            .containsExactly(Presence.ABSENT);
        channel.queueDeclare(queue, false, true, false, null);
        assertThat(probe.probe(session.call(), session.prober(), List.of(queue, queue + "-2")))
            .containsExactly(Presence.PRESENT, Presence.ABSENT);
        channel.queueDelete(queue);
      }
    }
  }
}
