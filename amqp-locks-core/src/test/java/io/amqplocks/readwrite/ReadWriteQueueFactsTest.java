package io.amqplocks.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.Queue.Declare;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.impl.AMQChannel;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What RabbitMQ does, without this library, that a read-write lock rests on. A reader is an
 * ordinary consumer of a durable classic queue, and a writer an exclusive one. The queue's process
 * admits any number of readers, or one writer.
 */
@BrokerTest(everyLine = true)
class ReadWriteQueueFactsTest {

  /** How a client consumes the queue. */
  enum Kind {
    READER,
    WRITER;

    Kind other() {
      return this == READER ? WRITER : READER;
    }
  }

  private static final Map<String, Object> OF_THE_LOCK =
      Map.of(
          "x-queue-type",
          "classic",
          "x-max-length",
          0,
          "x-overflow",
          "drop-head",
          "x-expires",
          60_000);

  private static final int RUSHERS = 8;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Connection> connections = new ArrayList<>();
  private Connection here;
  private Connection there;
  private Channel observer;
  private String queue;

  @BeforeEach
  void open() throws Exception {
    here = connect();
    there = connect();
    observer = connect().createChannel();
    queue = fixture.prefix() + "holders";
    declare(queue, OF_THE_LOCK);
  }

  @AfterEach
  void close() {
    threads.shutdownNow();
    connections.forEach(connection -> connection.abort(1000));
  }

  private Connection connect() throws Exception {
    Connection connection = fixture.stranger();
    connections.add(connection);
    return connection;
  }

  private AMQP.Queue.DeclareOk declare(String name, Map<String, Object> arguments)
      throws IOException {
    return observer.queueDeclare(name, true, false, false, arguments);
  }

  private int consumers() throws IOException {
    return observer.queueDeclarePassive(queue).getConsumerCount();
  }

  /** A consumer that the broker has confirmed. */
  private static final class Consumer {

    private final Channel channel;
    private final String tag;

    /** Completed by the broker's {@code basic.cancel}. */
    private final CompletableFuture<Void> told = new CompletableFuture<>();

    Consumer(Channel channel, String queue, Kind kind, Map<String, Object> arguments)
        throws IOException {
      this.channel = channel;
      this.tag =
          channel.basicConsume(
              queue,
              false,
              "",
              false,
              kind == Kind.WRITER,
              arguments,
              (tag, message) -> {},
              tag -> told.complete(null));
    }

    void cancel() throws IOException {
      channel.basicCancel(tag);
    }

    boolean isTold() {
      return told.isDone();
    }

    void awaitTold() {
      await().atMost(Fixture.AT_ONCE).until(this::isTold);
    }
  }

  private Consumer consume(Channel channel, Kind kind) throws IOException {
    return new Consumer(channel, queue, kind, Map.of());
  }

  private Consumer consume(Connection connection, Kind kind) throws IOException {
    return consume(connection.createChannel(), kind);
  }

  /** Whether the broker admits that consumer; a refusal is 403, and closes the channel. */
  private boolean admits(Channel channel, Kind kind) throws IOException {
    try {
      var unused = consume(channel, kind);
      return true;
    } catch (IOException e) {
      assertRefusal(e);
      return false;
    }
  }

  private void assertRefusal(IOException e) {
    assertThat(e)
        .hasRootCauseMessage(
            "channel error; protocol method: #method<channel.close>(reply-code=403,"
                + " reply-text=ACCESS_REFUSED - queue '"
                + queue
                + "' in vhost '/' in exclusive use, class-id=60, method-id=20)");
  }

  private boolean admits(Connection connection, Kind kind) throws IOException {
    return admits(connection.createChannel(), kind);
  }

  /** From the other connection, and from that of the consumer. */
  private void assertRefusedToAll(Kind kind) throws IOException {
    assertThat(admits(there, kind)).as("another connection's %s", kind).isFalse();
    assertThat(admits(here, kind)).as("another channel's %s", kind).isFalse();
  }

  @Test
  void readersShareTheQueueAndKeepWritersOut() throws Exception {
    Consumer one = consume(here, Kind.READER);
    Consumer two = consume(there, Kind.READER);
    Consumer three = consume(here, Kind.READER);
    Consumer onTheSameChannel = consume(three.channel, Kind.READER);
    assertThat(consumers()).isEqualTo(4);
    for (Consumer each : List.of(one, two, three, onTheSameChannel)) {
      assertRefusedToAll(Kind.WRITER);
      each.cancel();
    }
    assertThat(admits(there, Kind.WRITER)).as("when the last reader has gone").isTrue();
  }

  @Test
  void aWriterKeepsAllOthersOut() throws Exception {
    Consumer writer = consume(here, Kind.WRITER);
    for (Kind kind : Kind.values()) {
      assertRefusedToAll(kind);
    }
    assertThat(writer.isTold()).isFalse();
    writer.cancel();
    assertThat(admits(there, Kind.READER)).isTrue();
  }

  /** The refusal closes the channel, and with it the consumer that was there first. */
  @ParameterizedTest
  @CsvSource({"READER, WRITER", "WRITER, READER", "WRITER, WRITER"})
  void theSameChannelIsRefusedToo(Kind first, Kind second) throws Exception {
    Channel channel = here.createChannel();
    var unused = consume(channel, first);
    assertThat(admits(channel, second)).isFalse();
    assertThat(channel.isOpen()).isFalse();
    await().until(() -> consumers() == 0);
  }

  /** At once: as soon as the client has the broker's answer. */
  @ParameterizedTest
  @EnumSource
  void theOtherKindIsAdmittedAtOnceWhenTheConsumerEnds(Kind kind) throws Exception {
    for (int i = 0; i < 50; i++) {
      Consumer cancelled = consume(here, kind);
      cancelled.cancel();
      Consumer next = consume(there, kind.other());
      next.channel.close();
      Consumer same = consume(cancelled.channel, kind);
      same.channel.close();
      Connection closing = connect();
      var unused = consume(closing, kind.other());
      closing.close();
    }
    assertThat(admits(there, kind)).isTrue();
  }

  /** Also right after the answer that the consumer's own client received. */
  @ParameterizedTest
  @EnumSource
  void theNumberOfConsumersIsRightForOtherConnections(Kind kind) throws Exception {
    for (int i = 0; i < 300; i++) {
      Consumer consumer = consume(here, kind);
      assertThat(consumers()).as("after consume-ok, round %d", i).isEqualTo(1);
      if (i % 3 == 0) {
        consumer.channel.close();
      } else {
        consumer.cancel();
      }
      assertThat(consumers()).as("after its end, round %d", i).isZero();
    }
  }

  /** Who holds, by the counts of those who do. */
  private static final class Holders {

    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();
    private final Map<Kind, AtomicInteger> admitted =
        Map.of(Kind.READER, new AtomicInteger(), Kind.WRITER, new AtomicInteger());
    private final Map<Kind, AtomicInteger> refused =
        Map.of(Kind.READER, new AtomicInteger(), Kind.WRITER, new AtomicInteger());
    private final AtomicInteger mostReaders = new AtomicInteger();

    void enter(Kind kind) {
      count(admitted, kind).incrementAndGet();
      (kind == Kind.READER ? readers : writers).incrementAndGet();
      check(kind);
    }

    void check(Kind kind) {
      int reading = readers.get();
      int writing = writers.get();
      mostReaders.accumulateAndGet(reading, Math::max);
      if (kind == Kind.READER) {
        assertThat(writing).as("writers beside a reader").isZero();
      } else {
        assertThat(writing).as("writers").isEqualTo(1);
        assertThat(reading).as("readers beside a writer").isZero();
      }
    }

    /** A busy machine takes longer. */
    boolean sawEnough() {
      return Stream.of(admitted, refused)
          .flatMap(counts -> counts.values().stream())
          .allMatch(count -> count.get() > 50);
    }

    void leave(Kind kind) {
      check(kind);
      (kind == Kind.READER ? readers : writers).decrementAndGet();
    }

    static AtomicInteger count(Map<Kind, AtomicInteger> counts, Kind kind) {
      return Objects.requireNonNull(counts.get(kind));
    }
  }

  @Test
  void inAStormNoWriterIsEverTogetherWithAnother() throws Exception {
    Holders holders = new Holders();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
    List<Future<?>> storm = new ArrayList<>();
    for (int i = 0; i < RUSHERS; i++) {
      Connection connection = i % 2 == 0 ? here : there;
      storm.add(
          threads.submit(
              () -> {
                rush(connection, holders, end);
                return null;
              }));
    }
    for (Future<?> each : storm) {
      each.get(90, TimeUnit.SECONDS);
    }
    assertThat(holders.mostReaders).as("readers at once").hasValueGreaterThan(1);
    for (Kind kind : Kind.values()) {
      assertThat(Holders.count(holders.admitted, kind)).hasValueGreaterThan(50);
      assertThat(Holders.count(holders.refused, kind)).hasValueGreaterThan(50);
    }
  }

  private void rush(Connection connection, Holders holders, long end) throws IOException {
    Channel channel = connection.createChannel();
    long longest = end + TimeUnit.SECONDS.toNanos(60);
    while (System.nanoTime() - end < 0
        || (!holders.sawEnough() && System.nanoTime() - longest < 0)) {
      // Readers share, so they would seldom let a writer in.
      Kind kind = ThreadLocalRandom.current().nextInt(4) == 0 ? Kind.READER : Kind.WRITER;
      Consumer consumer;
      try {
        consumer = consume(channel, kind);
      } catch (IOException e) {
        assertRefusal(e);
        Holders.count(holders.refused, kind).incrementAndGet();
        channel = connection.createChannel();
        continue;
      }
      holders.enter(kind);
      // Others ask meanwhile.
      int counted = channel.queueDeclarePassive(queue).getConsumerCount();
      assertThat(counted).isBetween(1, kind == Kind.WRITER ? 1 : RUSHERS);
      holders.leave(kind);
      consumer.cancel();
    }
  }

  private static final String HOLDERS =
      """
      READER, true
      READER, false
      WRITER, true
      WRITER, false
      """;

  /** That the broker keeps quiet of a crash: 3.x, and the consumer did not ask to be told. */
  private static boolean hushed(Broker broker, boolean asksToBeTold) {
    return !broker.version().isAtLeast(4, 0) && !asksToBeTold;
  }

  /** A consumer that may have asked to be told. */
  private Consumer holder(Channel channel, Kind kind, boolean asksToBeTold) throws IOException {
    Map<String, Object> arguments =
        asksToBeTold ? Map.of("x-cancel-on-ha-failover", true) : Map.of();
    return new Consumer(channel, queue, kind, arguments);
  }

  /** The consumer is one of the queue's new process, and its client has heard nothing. */
  private void assertConsumesAgainUntold(Consumer consumer) throws IOException {
    await().until(() -> consumers() == 1);
    assertThat(admits(there, Kind.WRITER)).as("a writer beside it").isFalse();
    consumer.channel.basicQos(1);
    await().during(Duration.ofMillis(200)).until(() -> !consumer.isTold());
    consumer.cancel();
    assertThat(consumers()).isZero();
  }

  /**
   * From 4.0 on by {@code basic.cancel}. On 3.x its channel consumes again, and tells the client
   * nothing, unless the consumer has the argument.
   */
  @Tag("trap-22")
  @ParameterizedTest
  @CsvSource(textBlock = HOLDERS)
  void aHolderIsToldOfACrashIfItAskedTo(Kind kind, boolean asksToBeTold, Broker broker)
      throws Exception {
    Consumer holder = holder(here.createChannel(), kind, asksToBeTold);
    broker.faults().crashQueue(queue);
    if (hushed(broker, asksToBeTold)) {
      assertConsumesAgainUntold(holder);
      return;
    }
    holder.awaitTold();
    assertThat(consumers()).isZero();
    assertThat(holder.channel.isOpen()).isTrue();
    assertThat(admits(there, kind.other())).isTrue();
  }

  /**
   * On 3.x the channel waits for the queue's new process, for 30 ms at a time. That is enough for
   * another client to come and go. A holder that is not told of it has lost the lock, and holds it
   * again: it cannot find out, since its queue has one consumer, and that is its own.
   */
  @Tag("trap-22")
  @ParameterizedTest
  @CsvSource(textBlock = HOLDERS)
  void anotherWritesMeanwhileAndTheHolderNeverKnows(Kind kind, boolean asksToBeTold, Broker broker)
      throws Exception {
    boolean hushed = hushed(broker, asksToBeTold);
    // On a busy machine the other one is seldom in time.
    for (int round = 0; round < (hushed ? 40 : 5); round++) {
      // Another queue, since one that crashes often is not started again.
      queue = fixture.prefix() + "holders-" + round;
      declare(queue, OF_THE_LOCK);
      Channel another = there.createChannel();
      Consumer holder = holder(here.createChannel(), kind, asksToBeTold);
      broker.faults().crashQueue(queue);
      if (!hushed) {
        consume(another, Kind.WRITER).cancel();
        holder.awaitTold();
      } else if (comesAndGoes(another)) {
        // It is told if its channel noticed while the other one still wrote.
        await().until(() -> consumers() == 1 || holder.isTold());
        if (!holder.isTold()) {
          assertConsumesAgainUntold(holder);
          return;
        }
      }
    }
    assertThat(hushed)
        .as("in no round the other was in time, and the holder was not told")
        .isFalse();
  }

  private boolean comesAndGoes(Channel channel) throws IOException {
    try {
      consume(channel, Kind.WRITER).cancel();
      return true;
    } catch (IOException e) {
      assertRefusal(e);
      return false;
    }
  }

  /** Lets a channel wait at the broker for another queue. Meanwhile it does nothing else. */
  private final class Stall implements AutoCloseable {

    private final Broker broker;
    private final String suspended = fixture.prefix() + "suspended";
    private final CompletableFuture<Command> answer;

    Stall(Broker broker, Channel channel) throws Exception {
      this.broker = broker;
      ReadWriteQueueFactsTest.this.declare(suspended, Map.of("x-queue-type", "classic"));
      broker.faults().suspendQueue(suspended);
      answer =
          channel.asyncCompletableRpc(new Declare.Builder().queue(suspended).passive().build());
      // What is sent on a connection arrives in its order.
      channel.getConnection().createChannel().close();
    }

    @Override
    public void close() throws Exception {
      assertThat(answer).isNotDone();
      broker.faults().resumeQueue(suspended);
      var unused = answer.get(30, TimeUnit.SECONDS);
    }
  }

  /** So there may be two holders for a moment, also where the first is told in the end. */
  @Tag("trap-22")
  @ParameterizedTest
  @CsvSource(textBlock = HOLDERS)
  void untilItsChannelNoticesTheCrashTheHolderKnowsOfNoOther(
      Kind kind, boolean asksToBeTold, Broker broker) throws Exception {
    Consumer holder = holder(here.createChannel(), kind, asksToBeTold);
    try (Stall stall = new Stall(broker, holder.channel)) {
      broker.faults().crashQueue(queue);
      Consumer another = consume(there, Kind.WRITER);
      assertThat(consumers()).isEqualTo(1);
      assertThat(stall.answer).isNotDone();
      assertThat(holder.isTold()).as("while another one writes").isFalse();
      another.cancel();
    }
    if (hushed(broker, asksToBeTold)) {
      assertConsumesAgainUntold(holder);
    } else {
      holder.awaitTold();
      assertThat(consumers()).isZero();
    }
  }

  /** Then its channel cannot consume again. */
  @Tag("trap-22")
  @ParameterizedTest
  @CsvSource(textBlock = HOLDERS)
  void aHolderIsToldIfAnotherStillWritesWhenItsChannelNotices(
      Kind kind, boolean asksToBeTold, Broker broker) throws Exception {
    Consumer holder = holder(here.createChannel(), kind, asksToBeTold);
    Consumer another;
    try (Stall stall = new Stall(broker, holder.channel)) {
      broker.faults().crashQueue(queue);
      another = consume(there, Kind.WRITER);
      assertThat(stall.answer).isNotDone();
    }
    holder.awaitTold();
    assertThat(another.isTold()).isFalse();
    assertThat(consumers()).isEqualTo(1);
  }

  /**
   * If the channel consumes from the queue's new process before it notices the end of the old one.
   * On 3.x it then forgets its first consumer, whatever that asked for. From 4.0 on it takes the
   * second for one that has ended, but the queue does not. So each holder has its own channel.
   */
  @Tag("trap-22")
  @Test
  void oneOfTwoHoldersOnAChannelMayNeverBeTold(Broker broker) throws Exception {
    Channel channel = here.createChannel();
    Consumer first = holder(channel, Kind.READER, true);
    try (Stall stall = new Stall(broker, channel)) {
      // By hand, since the client waits for the answer to one request before it sends the next.
      ((AMQChannel) channel)
          .transmit(
              new Basic.Consume.Builder().queue(queue).consumerTag("second").nowait().build());
      // What is sent on a connection arrives in its order.
      here.createChannel().close();
      broker.faults().crashQueue(queue);
      assertThat(stall.answer).isNotDone();
    }
    await().until(() -> consumers() == 1);
    if (broker.version().isAtLeast(4, 0)) {
      first.awaitTold();
    } else {
      await().during(Duration.ofMillis(200)).until(() -> !first.isTold());
      first.cancel();
    }
    assertThat(consumers()).as("the second").isEqualTo(1);
    channel.close();
    await().until(() -> consumers() == 0);
  }

  private List<String> queues() {
    return fixture.broker().faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(fixture.prefix()))
        .toList();
  }

  /** A queue expires when it has had no consumer, nor a declare of either kind, for so long. */
  @Test
  void declaresPutOffTheExpiryAndAConsumerRulesItOut() throws Exception {
    // Longer than a busy machine may stall between two looks.
    Duration expires = Duration.ofSeconds(8);
    Map<String, Object> arguments = new HashMap<>(OF_THE_LOCK);
    arguments.put("x-expires", expires.toMillis());
    Map<String, Object> keepingMessages =
        Map.of("x-queue-type", "classic", "x-expires", expires.toMillis());
    String idle = fixture.prefix() + "idle";
    String looked = fixture.prefix() + "looked";
    String declared = fixture.prefix() + "declared";
    String read = fixture.prefix() + "read";
    String written = fixture.prefix() + "written";
    for (String each : List.of(idle, looked, read, written)) {
      declare(each, arguments);
    }
    declare(declared, keepingMessages);
    observer.confirmSelect();
    observer.basicPublish("", declared, null, new byte[0]);
    observer.waitForConfirmsOrDie(10_000);
    Consumer reader = new Consumer(here.createChannel(), read, Kind.READER, Map.of());
    Consumer writer = new Consumer(here.createChannel(), written, Kind.WRITER, Map.of());
    long start = System.nanoTime();
    await()
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              assertThat(observer.queueDeclarePassive(looked).getQueue()).isEqualTo(looked);
              // It would come back without its message.
              assertThat(declare(declared, keepingMessages).getMessageCount()).isEqualTo(1);
              return System.nanoTime() - start > expires.toNanos() * 2 && !queues().contains(idle);
            });
    assertThat(queues()).contains(looked, declared, read, written);
    await().until(() -> !queues().contains(looked) && !queues().contains(declared));
    assertThat(queues()).contains(read, written);
    reader.cancel();
    writer.cancel();
    await().until(() -> !queues().contains(read) && !queues().contains(written));
  }

  /** So a read-write lock needs a classic queue, and has to make sure of it. */
  @Tag("trap-16")
  @Test
  void aQuorumQueueAdmitsWritersAndReadersTogether() throws Exception {
    queue = fixture.prefix() + "quorum";
    declare(queue, Map.of("x-queue-type", "quorum"));
    Consumer reader = consume(here, Kind.READER);
    Consumer writer = consume(there, Kind.WRITER);
    Consumer another = consume(here, Kind.READER);
    await().until(() -> consumers() == 3);
    assertThat(List.of(reader, writer, another)).noneMatch(Consumer::isTold);
  }
}
