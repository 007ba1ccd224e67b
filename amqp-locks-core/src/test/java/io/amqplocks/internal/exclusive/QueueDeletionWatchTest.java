package io.amqplocks.internal.exclusive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("trap-14")
@BrokerTest(everyLine = true)
class QueueDeletionWatchTest {

  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
  private final Set<String> revoked = ConcurrentHashMap.newKeySet();
  private String prefix;
  private Connection connection;
  private Channel channel;
  private QueueDeletionWatch watch;

  @BeforeEach
  void open(Broker broker) throws Exception {
    prefix = new Fixture(broker).prefix();
    connection = broker.connectionFactory().newConnection("watch");
    channel = connection.createChannel();
    watch = new QueueDeletionWatch(connection, thread);
  }

  @AfterEach
  void close() {
    thread.shutdownNow();
    connection.abort(1000);
  }

  private void declare(String... names) throws Exception {
    for (String name : names) {
      channel.queueDeclare(prefix + name, false, true, false, null);
    }
  }

  private boolean watch(String name) {
    Call call = Call.on(LockId.mutex(name), Duration.ofSeconds(5), Ticker.SYSTEM);
    return watch.watch(call, prefix + name, () -> revoked.add(name));
  }

  private void delete(Broker broker, String name) {
    broker.faults().deleteQueue(prefix + name);
  }

  @Test
  void tellsOfEachQueueThatGoesAndOfNoOther(Broker broker) throws Exception {
    declare("a", "b");
    assertThat(watch("a")).isTrue();
    assertThat(watch("b")).isTrue();
    delete(broker, "a");
    await().untilAsserted(() -> assertThat(revoked).containsExactly("a"));
    delete(broker, "b");
    await().untilAsserted(() -> assertThat(revoked).containsExactlyInAnyOrder("a", "b"));
  }

  /**
   * A queue that is gone before it is watched closes the channel that all others are watched on.
   */
  @Test
  void goesOnWatchingAfterTheChannelBroke(Broker broker) throws Exception {
    declare("a", "b", "c");
    assertThat(List.of(watch("a"), watch("b"), watch("c"))).containsOnly(true);
    for (int i = 0; i < 5; i++) {
      assertThat(watch("missing-" + i)).isFalse();
    }
    delete(broker, "b");
    await().untilAsserted(() -> assertThat(revoked).containsExactly("b"));
    declare("b");
    assertThat(watch("b")).isTrue();
    delete(broker, "a");
    delete(broker, "c");
    await().untilAsserted(() -> assertThat(revoked).containsExactlyInAnyOrder("a", "b", "c"));
  }

  /** Some of the queues go in the very moment in which all are consumed anew. */
  @Test
  void losesNoNoticeWhileItConsumesAnew(Broker broker) throws Exception {
    for (int round = 0; round < 10; round++) {
      String[] names = {"x" + round, "y" + round, "z" + round};
      declare(names);
      for (String name : names) {
        assertThat(watch(name)).isTrue();
      }
      Thread breaking = new Thread(() -> watch("missing"));
      breaking.start();
      delete(broker, names[0]);
      delete(broker, names[2]);
      breaking.join();
      await().untilAsserted(() -> assertThat(revoked).contains(names[0], names[2]));
      assertThat(revoked).doesNotContain(names[1]);
      delete(broker, names[1]);
      await().untilAsserted(() -> assertThat(revoked).contains(names[1]));
    }
  }

  @Test
  void anothersQueueIsNotWatched(Broker broker) throws Exception {
    try (Connection stranger = broker.connectionFactory().newConnection("stranger")) {
      stranger.createChannel().queueDeclare(prefix + "theirs", false, true, false, null);
      assertThat(watch("theirs")).isFalse();
      declare("a");
      assertThat(watch("a")).isTrue();
    }
  }

  private void openWithTimeout(Broker broker, int millis) throws Exception {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setChannelRpcTimeout(millis);
    // As the library does: the late reply to the consume is nobody's.
    factory.setChannelShouldCheckRpcResponseType(true);
    open(factory);
  }

  private void open(ConnectionFactory factory) throws Exception {
    connection.abort(1000);
    connection = factory.newConnection("watch");
    channel = connection.createChannel();
    watch = new QueueDeletionWatch(connection, thread);
  }

  /** A refusal closes the channel of all watches, again and again. */
  @Test
  void aQueueThatMayNotBeConsumedKeepsNoOtherUnwatched(Broker broker) throws Exception {
    String user = prefix + "user";
    openAs(broker, user, "^(?!.*refused)");
    declare("a", "refused", "b", "c");
    assertThat(List.of(watch("a"), watch("b"), watch("c"))).containsOnly(true);
    var unused = watch.watchSoon(prefix + "refused", () -> revoked.add("refused"));
    unused = watch.watchSoon(prefix + "a", () -> revoked.add("a again"));
    // Retried more than once meanwhile.
    await()
        .during(Duration.ofSeconds(2))
        .atMost(Duration.ofMinutes(1))
        .until(() -> isConsumed("a") && isConsumed("b") && isConsumed("c"));
    delete(broker, "b");
    await().untilAsserted(() -> assertThat(revoked).containsExactly("b"));
    broker.faults().addUser(user, "secret", ".*", ".*", ".*");
    await().until(() -> isConsumed("refused"));
    delete(broker, "a");
    delete(broker, "refused");
    await()
        .untilAsserted(
            () -> assertThat(revoked).containsExactlyInAnyOrder("a", "a again", "b", "refused"));
    assertThat(isConsumed("c")).isTrue();
  }

  private boolean isConsumed(String name) throws IOException {
    return channel.consumerCount(prefix + name) > 0;
  }

  private void openAs(Broker broker, String user, String read) throws Exception {
    broker.faults().addUser(user, "secret", ".*", ".*", read);
    ConnectionFactory factory = broker.connectionFactory();
    factory.setUsername(user);
    factory.setPassword("secret");
    open(factory);
  }

  /** The client gives up a close after that time, and uses the channel's number again. */
  @Tag("trap-6")
  @Test
  void aQueueThatHangsDoesNotCostTheConnection(Broker broker) throws Exception {
    openWithTimeout(broker, 3_000);
    declare("hangs", "other");
    assertThat(watch("other")).isTrue();
    broker.faults().suspendQueue(prefix + "hangs");
    try {
      assertThatThrownBy(() -> watch("hangs")).isInstanceOf(LockException.Unanswered.class);
      // A probe, which is delivered to the consumer that was confirmed too late.
      channel.basicPublish("", prefix + "hangs", null, new byte[0]);
      await().during(Duration.ofSeconds(6)).atMost(Duration.ofMinutes(1)).until(connection::isOpen);
      delete(broker, "other");
      await().untilAsserted(() -> assertThat(revoked).containsExactly("other"));
    } finally {
      broker.faults().resumeQueue(prefix + "hangs");
    }
    await().ignoreException(LockException.Unanswered.class).until(() -> watch("hangs"));
    await().until(() -> channel.messageCount(prefix + "hangs") == 0);
    assertThat(connection.isOpen()).isTrue();
  }

  /** The client numbers its channels one after the other. */
  @Tag("trap-6")
  @Test
  void aQueueThatHangsForLongCostsOneChannel(Broker broker) throws Exception {
    openWithTimeout(broker, 3_000);
    declare("hangs", "other");
    assertThat(watch("other")).isTrue();
    broker.faults().suspendQueue(prefix + "hangs");
    try {
      var unused = watch.watchSoon(prefix + "hangs", () -> revoked.add("hangs"));
      assertThatThrownBy(() -> watch("hangs")).isInstanceOf(LockException.Unanswered.class);
      unused = watch.watchSoon(prefix + "hangs", () -> revoked.add("hangs again"));
      // In that time it would have given up three.
      await()
          .during(Duration.ofSeconds(11))
          .atMost(Duration.ofMinutes(1))
          .until(connection::isOpen);
      Channel another = connection.createChannel();
      assertThat(another.getChannelNumber()).isLessThanOrEqualTo(channel.getChannelNumber() + 3);
      another.close();
      delete(broker, "other");
      await().untilAsserted(() -> assertThat(revoked).containsExactly("other"));
    } finally {
      broker.faults().resumeQueue(prefix + "hangs");
    }
    await().until(() -> channel.consumerCount(prefix + "hangs") == 2);
    delete(broker, "hangs");
    await()
        .untilAsserted(
            () -> assertThat(revoked).containsExactlyInAnyOrder("hangs", "hangs again", "other"));
  }
}
