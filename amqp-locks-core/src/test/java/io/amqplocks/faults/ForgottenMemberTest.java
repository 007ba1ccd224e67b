package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A broker that is killed forgets that it has a member of a quorum queue, if it made that member a
 * moment before. The test makes it forget older ones.
 */
@Tag("trap-21")
@BrokerTest(everyLine = true, ownBroker = true)
class ForgottenMemberTest {

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(3);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private AmqpLocks locks;

  @BeforeEach
  void open(Broker tested) {
    broker = tested;
    locks = fixture.open();
  }

  private void startsWithout(String... queues) {
    List.of(queues).forEach(broker.faults()::forgetMember);
    broker.faults().kill();
    broker.faults().start();
    if (electsByItself()) {
      List.of(queues).forEach(this::awaitAnswer);
    }
  }

  private boolean electsByItself() {
    return broker.version().isAtLeast(4, 3);
  }

  /** A busy broker takes longer to elect than those who elect for it wait. */
  private void awaitAnswer(String queue) {
    await()
        .ignoreExceptions()
        .until(
            () -> {
              try (Connection connection = fixture.stranger()) {
                return connection.createChannel().basicGet(queue, false) == null;
              }
            });
  }

  private void publishes(String... queues) throws Exception {
    try (Connection connection = fixture.stranger();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      for (String each : queues) {
        channel.queueDeclare(each, true, false, false, Map.of("x-queue-type", "quorum"));
        channel.basicPublish("", each, MessageProperties.PERSISTENT_BASIC, new byte[1]);
      }
      channel.waitForConfirmsOrDie(30_000);
    }
  }

  @Test
  void itsQueueIsEmptyAndUpTo42ItAnswersNobody() throws Exception {
    String forgotten = fixture.prefix() + "forgotten";
    String deleted = fixture.prefix() + "deleted";
    String known = fixture.prefix() + "known";
    publishes(forgotten, deleted, known);
    startsWithout(forgotten, deleted);
    if (!electsByItself()) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setChannelRpcTimeout(Math.toIntExact(CALL_TIMEOUT.toMillis()));
      Connection connection = factory.newConnection();
      assertThatExceptionOfType(ChannelContinuationTimeoutException.class)
          .isThrownBy(() -> connection.createChannel().basicGet(forgotten, true));
      assertThatExceptionOfType(ChannelContinuationTimeoutException.class)
          .isThrownBy(() -> connection.createChannel().queueDelete(deleted));
      // Its close would wait for these channels.
      connection.abort(1_000);
    }
    List<String> elected = broker.faults().electLeaders();
    assertThat(elected).doesNotContain(known).hasSizeBetween(0, electsByItself() ? 0 : 2);
    assertThat(elected.contains(forgotten)).isNotEqualTo(electsByItself());
    try (Connection connection = fixture.stranger();
        Channel channel = connection.createChannel()) {
      assertThat(channel.basicGet(forgotten, true)).as("what was confirmed").isNull();
      assertThat(channel.basicGet(known, true)).isNotNull();
    }
  }

  @Test
  void aBrokerThatHasWrittenItsMembersForgetsNone() throws Exception {
    for (int i = 0; i < 3; i++) {
      String queue = fixture.prefix() + "new" + i;
      publishes(queue);
      broker.faults().writeMembers();
      broker.faults().kill();
      broker.faults().start();
      try (Connection connection = fixture.stranger()) {
        assertThat(connection.createChannel().basicGet(queue, true)).isNotNull();
      }
    }
  }

  @Test
  void aLockThatLostItsTokenIsRepaired() throws Exception {
    AmqpLock mutex = locks.fencedMutex("m");
    FencingToken before;
    try (Lease lease = mutex.tryAcquire().orElseThrow()) {
      before = lease.fencingToken();
    }
    int generation = Tokens.generation(broker, fixture.names(), mutex.id());
    String queue = fixture.names().tokens(mutex.id(), generation);
    startsWithout(queue);
    AmqpLocks others = fixture.open(fixture.builder().callTimeout(CALL_TIMEOUT));
    if (!electsByItself()) {
      assertThatExceptionOfType(LockException.Unanswered.class)
          .isThrownBy(() -> others.fencedMutex("m").acquire(Duration.ofSeconds(10)))
          .withMessageContaining(queue);
      assertThat(broker.faults().electLeaders()).contains(queue);
    }
    AmqpLock again = fixture.open().fencedMutex("m");
    assertThat(again.tryAcquire()).as("no token").isEmpty();
    TokenSemaphoreAdmin admin = fixture.open().admin().fencedMutex("m");
    assertThat(admin.status()).isEqualTo(new TokenStatus(1, 1, 0, 1, 0, 0));
    admin.repair(Duration.ofSeconds(1));
    try (Lease lease = again.acquire(Fixture.AT_ONCE)) {
      assertThat(lease.fencingToken().number()).isGreaterThan(before.number());
    }
  }

  @Test
  void aLockThatWasOnlyJustMadeSaysThatItsRecordIsLost() {
    AmqpLock mutex = locks.fencedMutex("m");
    mutex.tryAcquire().orElseThrow().close();
    int generation = Tokens.generation(broker, fixture.names(), mutex.id());
    startsWithout(
        fixture.names().tokens(mutex.id(), generation),
        fixture.names().tokenRecord(mutex.id()),
        fixture.names().tokenLedger(mutex.id()));
    List<String> elected = broker.faults().electLeaders();
    assertThat(elected).hasSize(electsByItself() ? 0 : 3);
    assertThatExceptionOfType(LockException.Unexpected.class)
        .isThrownBy(() -> fixture.open().fencedMutex("m").tryAcquire())
        .withMessageContaining("neither in queue")
        .withMessageContaining("delete both queues");
  }
}
