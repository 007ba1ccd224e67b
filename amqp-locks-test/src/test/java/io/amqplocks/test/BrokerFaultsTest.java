package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.DeliverCallback;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@BrokerTest(everyLine = true, ownBroker = true)
class BrokerFaultsTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private static final String NAME = "the one under test";

  private final Broker broker;
  private final BrokerFaults faults;
  private Connection connection;
  private Channel channel;

  BrokerFaultsTest(Broker broker) throws Exception {
    this.broker = broker;
    this.faults = broker.faults();
    this.connection = broker.connectionFactory().newConnection(NAME);
    this.channel = connection.createChannel();
  }

  @BeforeEach
  void sameBrokerIsInjectedEverywhere(Broker injected) {
    assertThat(injected).isSameAs(broker);
  }

  @AfterEach
  void healAndDisconnect() {
    faults.heal();
    connection.abort(1000);
  }

  private void reconnect() throws IOException, TimeoutException {
    connection = broker.connectionFactory().newConnection(NAME);
    channel = connection.createChannel();
  }

  private void declareDurableWithMessage(String queue) throws Exception {
    channel.confirmSelect();
    channel.queueDeclare(queue, true, false, false, null);
    channel.basicPublish("", queue, MessageProperties.PERSISTENT_BASIC, new byte[1]);
    channel.waitForConfirmsOrDie(30_000);
  }

  @Test
  void killedBrokerComesBackWithItsDataOnItsPort() throws Exception {
    declareDurableWithMessage("durable");
    CompletableFuture<ShutdownSignalException> lost = new CompletableFuture<>();
    connection.addShutdownListener(lost::complete);

    if (!broker.version().isAtLeast(4, 0)) {
      // Mnesia's log is written behind, after up to two seconds: what is newer dies with the
      // process.
      await().pollDelay(Duration.ofSeconds(6)).atMost(LONG).until(() -> true);
    }
    faults.freeze(); // Which must not save it.
    faults.kill();

    lost.get(30, TimeUnit.SECONDS);
    assertThatThrownBy(() -> broker.connectionFactory().newConnection())
        .isInstanceOf(IOException.class);
    assertThatThrownBy(faults::queues).hasMessageContaining("not running");
    faults.start();
    reconnect();
    assertThat(channel.queueDeclarePassive("durable").getMessageCount()).isEqualTo(1);
    channel.queueDelete("durable");
  }

  @Test
  void restartClosesConnectionsByTheProtocolAndKeepsData() throws Exception {
    declareDurableWithMessage("kept");
    CompletableFuture<ShutdownSignalException> lost = new CompletableFuture<>();
    connection.addShutdownListener(lost::complete);

    faults.restart();

    assertThat(lost.get(30, TimeUnit.SECONDS)).hasMessageContaining("reply-code=320");
    reconnect();
    assertThat(channel.queueDeclarePassive("kept").getMessageCount()).isEqualTo(1);
    channel.queueDelete("kept");
  }

  @Test
  void frozenBrokerIsSilentUntilThawed() throws Exception {
    ConnectionFactory impatient = broker.connectionFactory();
    impatient.setHandshakeTimeout(500);
    impatient.setConnectionTimeout(500);

    faults.freeze();

    assertThatThrownBy(impatient::newConnection)
        .isInstanceOfAny(IOException.class, TimeoutException.class);
    assertThatThrownBy(faults::connections).hasMessageContaining("frozen");
    assertThat(connection.isOpen()).isTrue();
    faults.thaw();
    assertThat(channel.queueDeclare().getQueue()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "quorum"})
  void aCrashedQueueIsStartedAnewWithItsMessages(String type) throws Exception {
    String queue = "crashed-" + type;
    channel.confirmSelect();
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", type));
    channel.basicPublish("", queue, MessageProperties.PERSISTENT_BASIC, new byte[1]);
    channel.waitForConfirmsOrDie(30_000);
    assertThat(channel.basicGet(queue, false)).isNotNull();

    faults.crashQueue(queue);

    try (Connection other = broker.connectionFactory().newConnection("other")) {
      Channel others = other.createChannel();
      if (type.equals("classic")) {
        // It forgot who had the message, so another gets it.
        await().atMost(LONG).until(() -> others.basicGet(queue, false) != null);
      } else {
        await()
            .atMost(LONG)
            .ignoreExceptions()
            .until(() -> others.queueDeclarePassive(queue) != null);
        assertThat(others.basicGet(queue, false)).isNull();
      }
      others.queueDelete(queue);
    }
    assertThatThrownBy(() -> faults.crashQueue(queue)).hasMessageContaining(queue);
  }

  @Test
  void closesConnectionsOfThatExactNameOnly() throws Exception {
    CompletableFuture<ShutdownSignalException> closed = new CompletableFuture<>();
    connection.addShutdownListener(closed::complete);
    try (Connection other = broker.connectionFactory().newConnection(NAME + " not")) {
      assertThat(faults.connections()).contains(NAME, NAME + " not");

      faults.closeConnections(NAME, "maintenance");

      assertThat(closed.get(30, TimeUnit.SECONDS))
          .hasMessageContaining("reply-code=320")
          .hasMessageContaining("maintenance");
      assertThat(other.isOpen()).isTrue();
      await().atMost(LONG).until(() -> !faults.connections().contains(NAME));
    }
    assertThatThrownBy(() -> faults.closeConnections("nobody", "x"))
        .hasMessageContaining("no connection named nobody");
  }

  @Test
  void deletesAnExclusiveQueueUnderItsOwnersFeet() throws Exception {
    channel.queueDeclare("exclusive-ß", false, true, false, null);
    CompletableFuture<String> cancelled = new CompletableFuture<>();
    channel.basicConsume("exclusive-ß", true, (tag, delivery) -> {}, cancelled::complete);

    faults.deleteQueue("exclusive-ß");

    cancelled.get(30, TimeUnit.SECONDS);
    assertThat(faults.queues()).extracting(BrokerQueue::name).doesNotContain("exclusive-ß");
    assertThatThrownBy(() -> faults.deleteQueue("exclusive-ß"))
        .hasMessageContaining("no queue named exclusive-ß");
  }

  @Test
  void aSuspendedQueueAnswersNobodyUntilItIsResumed() throws Exception {
    channel.queueDeclare("hung", true, false, false, null);
    channel.queueDeclare("well", true, false, false, null);
    faults.suspendQueue("hung");

    Channel asking = connection.createChannel();
    CompletableFuture<?> answer =
        asking.asyncCompletableRpc(
            new AMQP.Queue.Declare.Builder().queue("hung").passive(true).build());
    channel.queueDeclarePassive("well");
    await().during(Duration.ofMillis(300)).until(() -> !answer.isDone());

    faults.resumeQueue("hung");
    answer.get(30, TimeUnit.SECONDS);
    channel.queueDelete("hung");
    channel.queueDelete("well");
    faults.resumeQueue("hung");
    assertThatThrownBy(() -> faults.suspendQueue("hung"))
        .hasMessageContaining("no queue named hung");
  }

  @ParameterizedTest
  @ValueSource(strings = {"classic", "quorum"})
  void aSuspendedConsumerIsSentNothingAndItsConnectionEndsThen(String type) throws Exception {
    String queue = "suspended-" + type;
    Duration time = Duration.ofSeconds(2);
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", type));
    assertThat(faults.suspendConsumers(queue, time)).isZero();
    BlockingQueue<String> received = new LinkedBlockingQueue<>();
    DeliverCallback receiving = (tag, message) -> received.add(tag);
    Connection other = broker.connectionFactory().newConnection();
    Channel asking = other.createChannel();
    other.createChannel().basicConsume(queue, false, "one", receiving, tag -> {});
    assertThat(faults.suspendConsumers(queue, time)).isEqualTo(1);
    channel.basicPublish("", queue, null, new byte[0]);
    assertThat(asking.messageCount(queue)).isNotNegative();
    await().until(() -> !other.isOpen());
    assertThat(received).isEmpty();
    channel.basicConsume(queue, true, "two", receiving, tag -> {});
    assertThat(received.poll(30, TimeUnit.SECONDS)).isEqualTo("two");
    channel.queueDelete(queue);
    assertThatThrownBy(() -> faults.suspendConsumers(queue, time))
        .hasMessageContaining("no queue named " + queue);
  }

  @Test
  void aBusyQueueIsLookedAtAndTakesMessagesLater() throws Exception {
    channel.queueDeclare("busy", true, false, false, null);
    faults.keepQueueBusy("busy", Duration.ofSeconds(1));
    long start = System.nanoTime();
    channel.basicPublish("", "busy", null, new byte[0]);
    Channel asking = connection.createChannel();
    assertThat(asking.messageCount("busy")).isZero();
    assertThat(channel.basicGet("busy", true)).isNotNull();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(900));
    channel.queueDelete("busy");
    assertThatThrownBy(() -> faults.keepQueueBusy("busy", Duration.ofSeconds(1)))
        .hasMessageContaining("no queue named busy");
  }

  @Test
  void listsQueuesWithTheirOwners() throws Exception {
    declareDurableWithMessage("free");
    channel.queueDeclare("owned", false, true, false, null);
    channel.basicConsume("owned", (tag, delivery) -> {}, tag -> {});

    assertThat(faults.queues())
        .contains(new BrokerQueue("owned", true, 1, 0, NAME))
        .anySatisfy(
            queue -> {
              assertThat(queue.name()).isEqualTo("free");
              assertThat(queue.exclusive()).isFalse();
              assertThat(queue.owner()).isEmpty();
            });
    await()
        .atMost(LONG)
        .until(() -> faults.queues().contains(new BrokerQueue("free", false, 0, 1, "")));
    channel.queueDelete("free");
  }

  @Test
  void saysWhatItKeeps() throws Exception {
    // A second collection may free what only garbage of the first referred to.
    BrokerUsage first = faults.usage();
    BrokerUsage before = faults.usage();
    List<Channel> channels = new ArrayList<>();
    // They need some 17 MB. What ended earlier may give a few back meanwhile.
    for (int i = 0; i < 1_000; i++) {
      channels.add(connection.createChannel());
    }
    BrokerUsage after = faults.usage();
    for (Channel each : channels) {
      each.close();
    }
    // A channel is several processes.
    assertThat(after.processes()).isGreaterThan(before.processes() + 2_000);
    assertThat(after.memory()).isGreaterThan(before.memory() + 5_000_000);
    assertThat(after.atoms()).isGreaterThanOrEqualTo(first.atoms()).isGreaterThan(1_000);
  }

  /** Queues go on with logs that begin anew. */
  @Test
  void rollsItsLogsOver() throws Exception {
    channel.queueDeclare("logged", true, false, false, Map.of("x-queue-type", "quorum"));
    channel.confirmSelect();
    channel.basicPublish("", "logged", null, new byte[0]);
    channel.waitForConfirmsOrDie(LONG.toMillis());
    faults.rollOverLogs();
    channel.basicPublish("", "logged", null, new byte[0]);
    channel.waitForConfirmsOrDie(LONG.toMillis());
    assertThat(channel.messageCount("logged")).isEqualTo(2);
    channel.queueDelete("logged");
  }

  @Test
  void policyHoldsUntilCleared() throws Exception {
    channel.queueDeclare("short-lived", false, true, false, null);
    faults.setPolicy("drop", "^short-lived$", "queues", "{\"message-ttl\":0}");
    await().atMost(LONG).until(() -> vanishes("short-lived"));

    faults.clearPolicy("drop");
    faults.clearPolicy("drop");

    await().atMost(LONG).until(() -> !vanishes("short-lived"));
    assertThatThrownBy(() -> faults.setPolicy("bad", ".*", "queues", "{\"no-such-key\":1}"))
        .hasMessageContaining("no-such-key");
  }

  private boolean vanishes(String queue) throws IOException {
    channel.basicPublish("", queue, null, new byte[1]);
    return channel.basicGet(queue, true) == null;
  }

  @Test
  void memoryAlarmBlocksPublishers() throws Exception {
    CompletableFuture<String> blocked = new CompletableFuture<>();
    CompletableFuture<String> unblocked = new CompletableFuture<>();
    connection.addBlockedListener(blocked::complete, () -> unblocked.complete("unblocked"));

    faults.memoryAlarm(true);
    channel.basicPublish("", "nowhere", null, new byte[1]);

    assertThat(blocked.get(30, TimeUnit.SECONDS)).contains("memory");
    assertThat(unblocked).isNotDone();
    faults.memoryAlarm(false);
    unblocked.get(30, TimeUnit.SECONDS);
  }

  @Test
  void userHasOnlyThePermissionsGiven() throws Exception {
    faults.addUser("reader", "secret'\"", "^mine-", "^mine-", ".*");
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername("reader");
    factory.setPassword("secret'\"");
    Connection restricted = factory.newConnection();
    Channel allowed = restricted.createChannel();
    allowed.queueDeclare("mine-1", false, true, false, null);
    assertThatThrownBy(() -> allowed.queueDeclare("yours", false, true, false, null))
        .hasStackTraceContaining("reply-code=403");

    faults.deleteUser("reader");
    faults.deleteUser("reader");

    await().atMost(LONG).until(() -> !restricted.isOpen());
    assertThatThrownBy(factory::newConnection).hasStackTraceContaining("ACCESS_REFUSED");
  }

  @Test
  void consumerTimeoutClosesTheChannelUpToThe42Line() throws Exception {
    faults.setConsumerTimeout(Duration.ofMillis(500));
    Channel slow = connection.createChannel();
    CompletableFuture<ShutdownSignalException> closed = new CompletableFuture<>();
    slow.addShutdownListener(closed::complete);
    slow.queueDeclare("slow", false, true, false, null);
    slow.basicConsume("slow", (tag, delivery) -> {}, tag -> {});
    slow.basicPublish("", "slow", null, new byte[1]);

    if (broker.version().isAtLeast(4, 3)) { // where only quorum queues have such a timeout
      await().during(Duration.ofSeconds(3)).until(slow::isOpen);
    } else {
      assertThat(closed.get(30, TimeUnit.SECONDS)).hasMessageContaining("reply-code=406");
    }
  }

  /** Whether it began the fault or not. */
  @Test
  void whatAnInterruptedCallHasBegunIsHealed() throws Exception {
    interrupted(() -> faults.memoryAlarm(true));
    interrupted(faults::freeze);
    faults.heal();
    assertHealed();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBrokerIsStartedWhoseEndWasInterrupted(boolean frozen) throws Exception {
    if (frozen) {
      faults.freeze();
      interrupted(faults::kill);
    } else {
      interrupted(faults::restart);
    }
    faults.heal();
    reconnect();
    assertHealed();
  }

  private static void interrupted(ThrowingCallable call) {
    Thread.currentThread().interrupt();
    // None if the broker was so quick that nobody waited.
    Stream<Throwable> failure = Stream.ofNullable(catchThrowable(call));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(failure)
        .allSatisfy(
            failed ->
                assertThat(failed)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Interrupted"));
  }

  private void assertHealed() throws Exception {
    channel.confirmSelect();
    channel.basicPublish("", "nowhere", null, new byte[1]);
    assertThat(channel.waitForConfirms(30_000)).isTrue();
  }

  @Test
  void healUndoesEverything() throws Exception {
    faults.setPolicy("left", "^nothing$", "queues", "{\"max-length\":1}");
    faults.addUser("left", "left", "", "", "");
    faults.memoryAlarm(true);
    faults.setConsumerTimeout(Duration.ofSeconds(1));
    faults.freeze();

    faults.heal();

    faults.addUser("left", "left", "", "", ""); // Which fails if there is still one.
    faults.deleteUser("left");
    assertHealed();
  }
}
