package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP.Queue.Declare;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.ProbeKind;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class BrokerProfileTest {

  private static final BrokerProfile QPID = profile("Apache Qpid Broker-J Core", "10.1.0");

  private static BrokerProfile profile(String product, String version) {
    return BrokerProfile.of(Map.of("product", product, "version", version));
  }

  private static Call call() {
    return Call.on(LockId.mutex("m"), Duration.ofSeconds(1), Ticker.SYSTEM);
  }

  @Tag("trap-22")
  @ParameterizedTest
  @CsvSource({"3.10.8, true", "3.13.7, true", "4.0.0, false", "4.3.6, false", "10.0.0, false"})
  void aConsumerHearsOfAQueueThatBeganAnew(String version, boolean told) {
    BrokerProfile rabbit = profile("RabbitMQ", version);
    assertThat(rabbit.consume(0, true))
        .isEqualTo(told ? Map.of("x-cancel-on-ha-failover", true) : Map.of());
    assertThat(rabbit.consume(0, false)).isEmpty();
    assertThat(rabbit.consume(7, false)).isEqualTo(Map.of("x-priority", 7));
  }

  @Tag("trap-8")
  @ParameterizedTest
  @CsvSource({"3.13.7, false", "4.0.0, true", "10.0.0, true", "unknown, false"})
  void messagesAreNackedWhereTheyKeepTheirPlace(String version, boolean nacked) {
    assertThat(profile("RabbitMQ", version).nackKeepsPlace()).isEqualTo(nacked);
    assertThat(QPID.nackKeepsPlace()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"3, 10, false", "4, 3, true"})
  void rabbitHasTheArgumentsOfItsVersion(int major, int minor, boolean limited) {
    BrokerProfile rabbit = profile("RabbitMQ", major + "." + minor + ".1");
    assertThat(rabbit.counter("q").getArguments().get("x-delivery-limit"))
        .isEqualTo(limited ? -1 : null);
    for (TokenQueueType type : TokenQueueType.values()) {
      assertThat(rabbit.tokens("q", type).getArguments())
          .isEqualTo(QueueArguments.tokens("q", type, major, minor).getArguments());
      rabbit.requireTokens(call(), type);
    }
    rabbit.requireFences(call());
    assertThat(rabbit.concern()).isEmpty();
  }

  /** Qpid closes the connection that declares a queue with an argument that it does not know. */
  @Test
  void qpidIsSentNoArgumentsOfRabbit() {
    for (Declare declare :
        List.of(QPID.tokens("q", TokenQueueType.CLASSIC), QPID.counter("q"), QPID.exclusive("q"))) {
      assertThat(declare.getArguments()).isNullOrEmpty();
    }
    assertThat(QPID.mutex("q").getArguments()).isEqualTo(Map.of("x-single-active-consumer", true));
    for (Declare declare : List.of(QPID.slot("q"), QPID.wake("q"))) {
      assertThat(declare.getArguments())
          .isEqualTo(Map.of("qpid.policy_type", "ring", "qpid.max_count", 1));
    }
    assertThat(QPID.consume(0, true)).isEqualTo(Map.of("x-priority", 0));
  }

  /** The other two ways would close the connection of the probes (530, 312). */
  @ParameterizedTest
  @EnumSource
  void qpidIsProbedByConfirmsOnly(ProbeKind wanted) {
    assertThat(QPID.probing(wanted)).isEqualTo(ProbeKind.CONFIRM);
    assertThat(profile("RabbitMQ", "4.3.6").probing(wanted)).isEqualTo(wanted);
  }

  @ParameterizedTest
  @CsvSource({"Apache Qpid Broker-J Core, 10.1.0", "LavinMQ, 2.4.1", "unknown, unknown"})
  void onlyRabbitHasFences(String product, String version) {
    BrokerProfile broker = profile(product, version);
    assertThat(broker.concern()).isPresent();
    assertThatThrownBy(() -> broker.requireFences(call()))
        .isInstanceOf(LockException.FenceUnavailable.class)
        .hasMessageContaining("mutex 'm'")
        .hasMessageContaining(product);
  }

  /** What administers tokens relies on what only these two were seen to do. */
  @ParameterizedTest
  @CsvSource({"LavinMQ, 2.4.1", "unknown, unknown"})
  void tokensAreNotAdministeredWhereNobodyHasTriedIt(String product, String version) {
    BrokerProfile broker = profile(product, version);
    assertThatThrownBy(() -> broker.requireTokens(call(), TokenQueueType.CLASSIC))
        .isInstanceOf(LockException.Unsupported.class)
        .hasMessageContaining("mutex 'm'")
        .hasMessageContaining(product);
  }
}
