package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LogWatch;
import io.amqplocks.support.SoleConsumerMain;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A newcomer asks the active consumer to stop. */
@BrokerTest(everyLine = true)
@Order(1) // of the longest
class TakeOverRequestTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<SoleConsumer> consumers = new ArrayList<>();
  private final List<ChildJvm> processes = new ArrayList<>();
  private final List<String> users = new ArrayList<>();
  private final List<String> handled = new CopyOnWriteArrayList<>();
  private final List<String> ends = new CopyOnWriteArrayList<>();
  private String queue = "";
  private Connection stranger;
  private Channel channel;

  @BeforeEach
  void declare() throws Exception {
    queue = fixture.prefix() + "numbers";
    stranger = fixture.stranger();
    channel = stranger.createChannel();
    channel.confirmSelect();
    channel.queueDeclare(queue, true, false, false, Map.of());
  }

  @AfterEach
  void end() throws Exception {
    processes.forEach(ChildJvm::close);
    consumers.forEach(SoleConsumer::close);
    users.forEach(fixture.broker().faults()::deleteUser);
    stranger.close();
  }

  private void publish(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      byte[] body = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
      channel.basicPublish("", queue, null, body);
    }
    channel.waitForConfirmsOrDie(30_000);
  }

  /** Writes down what it handles and how its terms end, with its name. */
  private SoleConsumerBuilder on(String name) {
    return SoleConsumer.of(
            fixture.open().mutex("sole"),
            fixture.broker().connectionFactory(),
            queue,
            delivery -> handled.add(name + new String(delivery.body(), StandardCharsets.UTF_8)))
        .listener(
            new LeaderListener() {
              @Override
              public void revoked(Leadership leadership, Revocation why) {
                ends.add(name + " " + why);
              }
            });
  }

  private SoleConsumerBuilder slow(CountDownLatch begun, CountDownLatch mayEnd) {
    return SoleConsumer.of(
            fixture.open().mutex("sole"),
            fixture.broker().connectionFactory(),
            queue,
            delivery -> {
              begun.countDown();
              mayEnd.await();
              handled.add("a" + new String(delivery.body(), StandardCharsets.UTF_8));
            })
        .handOverOnRequest();
  }

  private SoleConsumer kept(SoleConsumerBuilder settings) {
    SoleConsumer consumer = settings.build();
    consumers.add(consumer);
    return consumer;
  }

  private SoleConsumer active(SoleConsumerBuilder settings) throws Exception {
    SoleConsumer consumer = kept(settings);
    consumer.start();
    assertThat(consumer.awaitActive(LONG)).isTrue();
    return consumer;
  }

  @Test
  void theActiveOneFinishesItsMessageAndTheNewcomerGoesOn() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    publish(0, 5);
    SoleConsumer first = active(slow(begun, mayEnd));
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    SoleConsumer second = kept(on("b"));
    CompletableFuture<Boolean> taken = takingOver(second);
    await().until(() -> !first.isActive());
    assertThat(second.awaitActive(Duration.ofSeconds(1))).isFalse();
    mayEnd.countDown();
    assertThat(taken.get(60, TimeUnit.SECONDS)).isTrue();
    await().until(() -> handled.size() >= 5);
    assertThat(handled).containsExactly("a0", "b1", "b2", "b3", "b4");
    assertThat(first.isActive()).isFalse();
    second.close();
    assertThat(first.awaitActive(LONG)).isTrue();
  }

  private static CompletableFuture<Boolean> takingOver(SoleConsumer consumer) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return consumer.takeOver(LONG);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        },
        work -> new Thread(work).start());
  }

  @Test
  void thoseThatStoodByForLongerAreAskedToo() throws Exception {
    SoleConsumer first = active(on("a").handOverOnRequest());
    List<SoleConsumer> standingBy = new ArrayList<>();
    for (String name : List.of("b", "c")) {
      SoleConsumer consumer = kept(on(name).handOverOnRequest());
      consumer.start();
      standingBy.add(consumer);
      // The active one, and those who wait at the broker: it serves them in this order.
      fixture.awaitConsumers(fixture.names().mutex(LockName.of("sole")), 1 + standingBy.size());
      assertThat(consumer.isActive()).isFalse();
    }
    SoleConsumer newcomer = kept(on("d").handOverOnRequest());
    // It waits at the broker before it asks: who yielded comes back after two seconds.
    newcomer.start();
    fixture.awaitConsumers(fixture.names().mutex(LockName.of("sole")), 4);
    assertThat(newcomer.takeOver(LONG)).isTrue();
    assertThat(standingBy).noneMatch(SoleConsumer::isActive);
    assertThat(first.isActive()).isFalse();
    await().until(() -> ends.size() >= 3);
    assertThat(ends)
        .allMatch(end -> end.endsWith("YIELDED (another consumer asked to take over)"))
        .extracting(end -> end.substring(0, 1))
        .containsExactly("a", "b", "c");
    publish(0, 3);
    await().until(() -> handled.size() >= 3);
    assertThat(handled).containsExactly("d0", "d1", "d2");
    assertThat(newcomer.takeOver(LONG)).isTrue();
  }

  @Test
  void whoDoesNotAllowItIsNotStopped() throws Exception {
    SoleConsumer first = active(on("a"));
    SoleConsumer newcomer = kept(on("b"));
    assertThat(newcomer.takeOver(Duration.ofSeconds(1))).isFalse();
    assertThat(first.isActive()).isTrue();
    assertThat(ends).isEmpty();
    first.close();
    assertThat(newcomer.awaitActive(LONG)).isTrue();
  }

  @Test
  void twoThatBothTakeOverAreBothActiveInTurn() throws Exception {
    SoleConsumer first = kept(on("a").handOverOnRequest());
    SoleConsumer second = kept(on("b").handOverOnRequest());
    CompletableFuture<Boolean> one = takingOver(first);
    CompletableFuture<Boolean> other = takingOver(second);
    assertThat(one.get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(other.get(60, TimeUnit.SECONDS)).isTrue();
    await().until(() -> first.isActive() != second.isActive());
    assertThat(ends.size()).isLessThanOrEqualTo(2);
  }

  @Test
  void aRequestThatCameTooEarlyStopsNobodyAndAStrangersMessageNeither() throws Exception {
    String requests = queue + ".hand-over";
    Map<String, Object> likeOurs =
        Map.of("x-queue-type", "classic", "x-message-ttl", 0, "x-expires", 10_000);
    AMQP.BasicProperties request =
        new AMQP.BasicProperties.Builder().type("amqp-locks.hand-over").messageId("x").build();
    channel.queueDeclare(requests, true, false, false, likeOurs);
    channel.basicPublish("", requests, request, new byte[0]);
    SoleConsumer first = active(on("a").handOverOnRequest());
    await().until(() -> channel.consumerCount(requests) == 1);
    channel.basicPublish("", requests, null, new byte[0]);
    channel.waitForConfirmsOrDie(30_000);
    publish(0, 1);
    await().until(() -> handled.contains("a0"));
    assertThat(first.isActive()).isTrue();
    assertThat(ends).isEmpty();
    // The queue does what it is for, so the above says something.
    channel.basicPublish("", requests, request, new byte[0]);
    await().until(() -> ends.size() == 1);
  }

  @Test
  void aNameThatIsTooLongIsRefusedAndAClosedConsumerTakesNothingOver() {
    SoleConsumerBuilder longest =
        SoleConsumer.of(
            fixture.open().mutex("sole"),
            fixture.broker().connectionFactory(),
            "ü".repeat(123),
            delivery -> {});
    assertThatThrownBy(longest::handOverOnRequest)
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining(".hand-over");
    SoleConsumer closed = kept(on("a"));
    closed.close();
    assertThatThrownBy(() -> closed.takeOver(LONG)).isInstanceOf(IllegalStateException.class);
  }

  /** An operator may have deleted the queue, or its node was down for a time. */
  @Test
  void whoCouldNotBeAskedForATimeCanBeAskedAgain() throws Exception {
    SoleConsumer first = active(on("a").handOverOnRequest());
    await().until(() -> listens());
    channel.queueDelete(queue + HandOverRequests.SUFFIX);
    SoleConsumer second = kept(on("b"));
    assertThat(takingOver(second).get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(first.isActive()).isFalse();
  }

  private boolean listens() {
    return fixture.broker().faults().queues().stream()
        .anyMatch(each -> each.name().equals(queue + HandOverRequests.SUFFIX));
  }

  /** RabbitMQ closes the connection that declares a queue while a majority is missing (541). */
  @Test
  void theConnectionOfRequestsMayBreakWithoutHarmToTheConsumer() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    SoleConsumer first = active(slow(begun, mayEnd));
    publish(0, 3);
    assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
    await().until(() -> listens());
    try (LogWatch logs = LogWatch.of("io.amqplocks.consumer")) {
      fixture
          .broker()
          .faults()
          .closeConnections("amqp-locks hand-over requests of " + queue, "a test");
      await().until(() -> logs.warnings().stream().anyMatch(each -> each.contains(queue)));
      mayEnd.countDown();
      await().until(() -> handled.size() == 3);
      // Of its own messages it knows nothing: none comes again, and nothing is said of them.
      assertThat(logs.warnings())
          .filteredOn(each -> each.contains(queue)) // other classes run meanwhile
          .singleElement()
          .asString()
          .contains("hand over", "a test");
    }
    assertThat(first.isActive()).isTrue();
    assertThat(takingOver(kept(on("b"))).get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(handled).containsExactly("a0", "a1", "a2");
  }

  @Test
  void itNeedsTheRightsThatThePageNames() throws Exception {
    String requests = Pattern.quote(queue + HandOverRequests.SUFFIX);
    String read = "^(" + Pattern.quote(queue) + "|" + requests + ")$";
    ConnectionFactory asked = user("asked", "^" + requests + "$", "^$", read);
    String own = "^" + Pattern.quote(queue) + "$";
    ConnectionFactory asking = user("asking", "^$", "^amq\\.default$", own);
    SoleConsumer first = kept(by(asked).handOverOnRequest());
    first.start();
    assertThat(first.awaitActive(LONG)).isTrue();
    assertThat(takingOver(kept(by(asking))).get(60, TimeUnit.SECONDS)).isTrue();
    publish(0, 3);
    await().until(() -> handled.size() == 3);
  }

  private SoleConsumerBuilder by(ConnectionFactory factory) {
    return SoleConsumer.of(
        fixture.open().mutex("sole"), factory, queue, delivery -> handled.add("handled"));
  }

  private ConnectionFactory user(String name, String configure, String write, String read) {
    String user = fixture.prefix() + name;
    fixture.broker().faults().addUser(user, "secret", configure, write, read);
    users.add(user);
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setUsername(user);
    factory.setPassword("secret");
    return factory;
  }

  /** As a queue whose node is down, which the broker refuses to declare. */
  @Test
  void aQueueOfRequestsThatCannotBeHadCostsNoMessage() throws Exception {
    channel.queueDeclare(queue + HandOverRequests.SUFFIX, true, false, false, Map.of());
    try (LogWatch logs = LogWatch.of("io.amqplocks.consumer")) {
      SoleConsumer first = active(on("a").handOverOnRequest());
      publish(0, 20);
      await().until(() -> handled.size() == 20);
      assertThat(first.isActive()).isTrue();
      await()
          .untilAsserted(
              () ->
                  assertThat(logs.warnings())
                      .anyMatch(
                          each -> each.contains(queue) && each.contains("PRECONDITION_FAILED")));
    }
  }

  /** When a process is killed during a hand-over. */
  enum Death {
    NEWCOMER_HAS_ASKED,
    NEWCOMER_IS_ACTIVE,
    ACTIVE_CANNOT_BE_ASKED,
    ACTIVE_FINISHES_ITS_MESSAGE,
    ACTIVE_HAS_HANDED_OVER
  }

  private ChildJvm process() {
    ChildJvm process =
        ChildJvm.of(SoleConsumerMain.class)
            .args(fixture.broker().uri(), fixture.prefix(), queue, "10", "mutex")
            .start();
    processes.add(process);
    process.awaitLine("STARTED", SoleProcesses.START);
    return process;
  }

  private static List<String> numbers(List<ChildJvm> processes) {
    return processes.stream()
        .flatMap(process -> process.lines().stream())
        .filter(line -> line.startsWith("HANDLED "))
        .map(line -> line.split(" ", -1)[1])
        .toList();
  }

  @ParameterizedTest
  @EnumSource(Death.class)
  void whoeverDiesAtWhateverPointOneIsActiveSoonAndNothingIsLost(Death death) throws Exception {
    ChildJvm first = process();
    first.awaitLine("ACTIVE", SoleProcesses.START);
    ChildJvm newcomer = process();
    first.send("hold");
    first.awaitLine("HOLDS", SoleProcesses.START);
    publish(0, 20);
    first.awaitLine("BEGUN 0", SoleProcesses.START);
    ChildJvm dying = death.name().startsWith("NEWCOMER") ? newcomer : first;
    ChildJvm staying = dying.equals(first) ? newcomer : first;
    if (death == Death.ACTIVE_CANNOT_BE_ASKED) {
      first.stop();
    }
    newcomer.send("take over");
    newcomer.awaitLine("TAKING OVER", SoleProcesses.START);
    switch (death) {
      case NEWCOMER_HAS_ASKED, ACTIVE_FINISHES_ITS_MESSAGE ->
          first.awaitLine(line -> line.equals("INTERRUPTED YIELDED"), SoleProcesses.START);
      case NEWCOMER_IS_ACTIVE, ACTIVE_HAS_HANDED_OVER -> {
        first.send("go");
        newcomer.awaitLine("ACTIVE", SoleProcesses.START);
      }
      case ACTIVE_CANNOT_BE_ASKED -> assertThat(SoleProcesses.isActive(newcomer)).isFalse();
    }
    dying.killNow();
    if (death == Death.NEWCOMER_HAS_ASKED) {
      first.send("go");
    }
    await().atMost(Duration.ofSeconds(45)).until(() -> SoleProcesses.isActive(staying));
    publish(20, 40);
    await().atMost(SoleProcesses.START).until(() -> numbers(processes).contains("39"));
    assertThat(numbers(processes))
        .containsAll(IntStream.range(0, 40).mapToObj(Integer::toString).toList());
    assertThat(numbers(processes).size() - 40).isBetween(0, 10);
  }
}
