package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What concerns all of a broker is refused before it is done to the others who use it. */
@BrokerTest(ownBroker = true)
class SharedFaultsTest {

  private static Map<String, Consumer<BrokerFaults>> ofAllOfTheBroker() {
    Map<String, Consumer<BrokerFaults>> faults = new LinkedHashMap<>();
    faults.put("killed", BrokerFaults::kill);
    faults.put("started", BrokerFaults::start);
    faults.put("restarted", BrokerFaults::restart);
    faults.put("frozen", BrokerFaults::freeze);
    faults.put("thawed", BrokerFaults::thaw);
    faults.put("put under a memory alarm", all -> all.memoryAlarm(true));
    faults.put("given a consumer timeout", all -> all.setConsumerTimeout(Duration.ofMinutes(1)));
    faults.put("given a default queue type", all -> all.setDefaultQueueType("quorum"));
    faults.put("given a plugin", all -> all.enablePlugin("rabbitmq_stomp"));
    return faults;
  }

  @Test
  void refuseWhatConcernsAllOfTheBroker(Broker broker) throws Exception {
    SharedFaults shared = new SharedFaults(broker.faults());
    ofAllOfTheBroker()
        .forEach(
            (change, fault) ->
                assertThatThrownBy(() -> fault.accept(shared))
                    .as(change)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("cannot be " + change)
                    .hasMessageContaining("@BrokerTest(ownBroker = true)"));
    try (var connection = broker.connectionFactory().newConnection()) {
      assertThat(connection.isOpen()).isTrue();
    }
  }
}
