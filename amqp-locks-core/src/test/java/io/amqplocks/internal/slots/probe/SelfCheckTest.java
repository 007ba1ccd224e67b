package io.amqplocks.internal.slots.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@BrokerTest(everyLine = true, ownBroker = true)
class SelfCheckTest {

  private static final String USER = "locks-check";
  private static final Duration BOUND = Duration.ofSeconds(5);

  private final List<ProberSession> sessions = new ArrayList<>();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close(Broker broker) {
    broker.faults().heal();
    sessions.forEach(ProberSession::close);
  }

  private List<String> look(ConnectionFactory factory, ExistenceProbe probe) {
    ProberSession session = new ProberSession(factory, fixture.prefix(), BOUND);
    sessions.add(session);
    return new SelfCheck(probe, fixture.names(), BOUND, Ticker.SYSTEM, Runnable::run)
        .look(session.session());
  }

  private static ConnectionFactory user(
      Broker broker, String configure, String write, String read) {
    broker.faults().addUser(USER, "secret", configure, write, read);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(USER);
    factory.setPassword("secret");
    return factory;
  }

  private void nothingLeft(Broker broker) {
    assertThat(broker.faults().queues())
        .noneMatch(queue -> queue.name().startsWith(fixture.prefix()));
  }

  @ParameterizedTest
  @EnumSource(ProbeKind.class)
  void findsNothingOnABrokerAsItShouldBe(ProbeKind kind, Broker broker) {
    assertThat(look(broker.connectionFactory(), ExistenceProbe.of(kind))).isEmpty();
    nothingLeft(broker);
    assertThat(sessions.get(0).session().broker())
        .asString()
        .startsWith("RabbitMQ " + broker.version());
    assertThat(sessions.get(0).session().broker().concern()).isEmpty();
  }

  @Test
  void aMissingPermissionIsSaidBeforeALockNeedsIt(Broker broker) {
    assertThat(look(user(broker, ".*", ".*", "^$"), new ConfirmProbe()))
        .singleElement()
        .asString()
        .contains("consume from queue")
        .contains("read");
    broker.faults().deleteUser(USER);
    assertThat(look(user(broker, ".*", "^$", ".*"), new ConfirmProbe()))
        .singleElement()
        .asString()
        .contains("publish to queue")
        .contains("amq.default");
    nothingLeft(broker);
  }

  /** The user may administer or hold certain locks all the same. */
  @Test
  void withoutAPermissionForTheCanaryNothingIsSaid(Broker broker) {
    assertThat(look(user(broker, "^only-these-", ".*", ".*"), new ConfirmProbe())).isEmpty();
  }

  @Tag("trap-4")
  @Test
  void anAlarmIsNoFinding(Broker broker) {
    broker.faults().memoryAlarm(true);
    assertThat(look(broker.connectionFactory(), new ConfirmProbe())).isEmpty();
  }

  /** Probes that answer as a broker would that is not fit for it, or as two brokers would. */
  @Tag("trap-2")
  @Test
  void wrongAnswersAreFindings(Broker broker) {
    assertThat(look(broker.connectionFactory(), answering(Presence.UNKNOWN, Presence.ABSENT)))
        .singleElement()
        .asString()
        .contains("reject-publish");
    assertThat(look(broker.connectionFactory(), answering(Presence.ABSENT, Presence.ABSENT)))
        .singleElement()
        .asString()
        .contains("same broker");
    assertThat(look(broker.connectionFactory(), answering(Presence.PRESENT, Presence.PRESENT)))
        .singleElement()
        .asString()
        .contains("seem full");
    nothingLeft(broker);
  }

  /** So short an expiry that not even a fresh queue can be consumed. */
  @Tag("trap-14")
  @Test
  void expiresOfNoTimeAtAllIsAFinding(Broker broker) {
    broker
        .faults()
        .setPolicy(
            fixture.prefix() + "expires", "^" + fixture.prefix(), "queues", "{\"expires\":50}");
    List<String> found =
        look(
            broker.connectionFactory(),
            (call, prober, queues) -> List.of(Presence.ABSENT, Presence.ABSENT));
    assertThat(found).hasSize(2).last().asString().contains("expires");
  }

  private static ExistenceProbe answering(Presence first, Presence second) {
    return (call, prober, queues) -> List.of(first, second);
  }
}
