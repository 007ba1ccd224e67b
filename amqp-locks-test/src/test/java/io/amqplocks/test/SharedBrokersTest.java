package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who has which broker, when classes run in parallel. */
class SharedBrokersTest {

  @Test
  void anOwnBrokerIsLentToOneAtATime() {
    LocalSource source = new LocalSource(System.getenv());
    assumeThat(source.lines()).as("a rabbitmq-server on this machine").isNotEmpty();
    String line = source.lines().get(0);
    try (SharedBrokers brokers = new SharedBrokers(new BrokerOffers(List.of(source), Map.of()))) {
      LentBroker first = brokers.lend(line, true);
      LentBroker second = brokers.lend(line, true);
      assertThat(second.broker()).isNotSameAs(first.broker());
      first.close();
      // However often it is given back.
      first.close();
      LentBroker third = brokers.lend(line, true);
      assertThat(third.broker()).isSameAs(first.broker());
      first.close();
      second.close();
      LentBroker fourth = brokers.lend(line, true);
      assertThat(fourth.broker()).isSameAs(second.broker());
      assertThat(brokers.lend(line, false).broker())
          .isNotSameAs(third.broker())
          .isNotSameAs(fourth.broker());
      third.close();
      fourth.close();
    }
  }
}
