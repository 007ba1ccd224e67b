package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@BrokerTest
class PerSessionTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  /** Many, since a map that is updated within its own update only fails for some pairs of keys. */
  @Test
  void whatASessionKeepsMayUseOtherThingsThatItKeeps(Broker broker) throws Exception {
    try (ProberSession client =
        new ProberSession(
            broker.connectionFactory(), fixture.prefix() + "client", Duration.ofSeconds(10))) {
      Session session = client.session();
      for (int i = 0; i < 300; i++) {
        PerSession<Object> inner = new PerSession<>(same -> new Object());
        PerSession<Object> outer = new PerSession<>(inner::of);
        assertThat(outer.of(session)).isSameAs(inner.of(session)).isSameAs(outer.of(session));
      }
    }
  }
}
