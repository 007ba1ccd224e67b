package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.consumer.SoleProcesses.Certain;
import io.amqplocks.consumer.SoleProcesses.Handled;
import io.amqplocks.consumer.SoleProcesses.Together;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes that consume a queue of numbers in turn, and what is lost and handled twice meanwhile.
 */
@BrokerTest(everyLine = true)
@Order(1) // of the longest
class TakeoverTest {

  /** How a process stops being the active one. */
  private enum Takeover {
    POLITE,
    KILL,
    STOP,
    /** Its connections are closed, that of its lock and that by which it consumes. */
    CUT
  }

  private static final List<Takeover> EACH =
      List.of(Takeover.POLITE, Takeover.KILL, Takeover.CUT, Takeover.STOP, Takeover.POLITE);

  /** As many are handled in each term, and after a cut. */
  private static final int SOME = 10;

  /** The default of a sole consumer. */
  private static final int PREFETCH = 10;

  /** A holder's own clock would take 7 s. */
  private static final Duration TOLD = Duration.ofSeconds(2);

  /** From before the broker closed the connection of a lock until after its holder said so. */
  private record Cut(long from, long to) {
    boolean has(Together together) {
      return together.other().from() > from && together.other().from() + together.nanos() < to;
    }
  }

  @RegisterExtension private final Fixture fixture = new Fixture();
  private @Nullable SoleProcesses started;
  private final List<Cut> cuts = new ArrayList<>();

  /** The exchange is deleted when nobody can bind to it any more (trap 25). */
  @AfterEach
  void end() throws Exception {
    if (started != null) {
      started.close();
    }
    try (Connection connection = fixture.stranger()) {
      connection.createChannel().exchangeDelete(ingress());
    }
  }

  private String ingress() {
    return fixture.prefix() + "ingress";
  }

  private SoleProcesses processes() {
    return Objects.requireNonNull(started);
  }

  private String queue() {
    return fixture.prefix() + "numbers";
  }

  /** Returns the next active one. */
  private ChildJvm takeOver(Takeover how) {
    ChildJvm active = processes().active();
    awaitNext();
    long before = SoleProcesses.ended(active);
    switch (how) {
      case POLITE -> active.send("hand over");
      case KILL -> {
        active.killNow();
        ChildJvm unused = processes().start(fixture.broker());
      }
      case STOP -> {
        active.stop();
        // After three heartbeats the broker gives its lock and messages away.
        processes().awaitAnother(active);
        active.cont();
      }
      case CUT -> {
        // This one first: without the lock, the process closes it by itself.
        cutConsumer();
        long from = System.nanoTime();
        fixture
            .broker()
            .faults()
            .closeConnections(fixture.prefix() + active.pid() + " holder", "cut");
        awaitEnded(active, before);
        cuts.add(new Cut(from, System.nanoTime()));
      }
    }
    if (how != Takeover.KILL) {
      awaitEnded(active, before);
    }
    ChildJvm next = processes().active();
    assertThat(next).as("%s", how).isNotSameAs(active);
    return next;
  }

  /** While another one waits at the broker, the active one does not become so again at once. */
  private void awaitNext() {
    String mutex = fixture.names().mutex(LockName.of("sole"));
    await()
        .atMost(SoleProcesses.START)
        .until(
            () ->
                fixture.broker().faults().queues().stream()
                    .anyMatch(each -> each.name().equals(mutex) && each.consumers() > 1));
  }

  private static void awaitEnded(ChildJvm active, long before) {
    await().atMost(SoleProcesses.START).until(() -> SoleProcesses.ended(active) > before);
  }

  /** Cuts the connection by which the active one consumes, and not that of its lock. */
  private void cutConsumer() {
    fixture.broker().faults().closeConnections("amqp-locks consumer of " + queue(), "cut");
  }

  /** That ends no term: the active one consumes by a new connection. */
  private void cutNoMoreThanConsumer(ChildJvm active, NumberPublisher publisher) {
    long ended = SoleProcesses.ended(active);
    cutConsumer();
    long handled = SoleProcesses.handledInTerm(active);
    publisher.allowShare();
    // More than was sent ahead to it by both ways.
    awaitHandled(active, handled + 3 * PREFETCH + SOME);
    assertThat(SoleProcesses.ended(active)).as("terms that ended").isEqualTo(ended);
  }

  private static void awaitHandled(ChildJvm active, long messages) {
    await()
        .atMost(SoleProcesses.START)
        .until(() -> SoleProcesses.handledInTerm(active) >= messages);
  }

  private void chain(int messages, boolean twoWays, List<Takeover> takeovers) throws Exception {
    @Nullable String ingress = twoWays ? ingress() : null;
    started = new SoleProcesses(fixture.prefix(), queue(), "mutex", ingress);
    try (Connection connection = fixture.stranger()) {
      Channel channel = declare(connection, ingress);
      // Who handed over contends again after two seconds: meanwhile two others can take over.
      for (int i = 0; i < 3; i++) {
        ChildJvm unused = processes().start(fixture.broker());
      }
      // For the first term, for each takeover and the term after it, for each cut, and a rest.
      int cut = (int) takeovers.stream().filter(Takeover.CUT::equals).count();
      int shares = 1 + 2 * takeovers.size() + cut + 1;
      try (NumberPublisher publisher =
          new NumberPublisher(fixture::stranger, ingress, queue(), messages, shares)) {
        publisher.allowShare();
        awaitHandled(processes().active(), SOME);
        for (Takeover how : takeovers) {
          // So that there is something to handle in each term, however long others took.
          assertThat(publisher.published()).isLessThan(messages);
          publisher.allowShare();
          ChildJvm next = takeOver(how);
          publisher.allowShare();
          awaitHandled(next, SOME);
          if (how == Takeover.CUT) {
            cutNoMoreThanConsumer(next, publisher);
          }
        }
        publisher.finish();
        await()
            .atMost(Duration.ofMinutes(3))
            .pollInterval(Duration.ofMillis(300))
            .untilAsserted(
                () ->
                    assertThat(processes().unhandled(messages))
                        .as("not handled; %d in the queue", channel.messageCount(queue()))
                        .isEmpty());
        // One that was handled may be there for a second time.
        await().until(() -> channel.messageCount(queue()) == 0);
        verify(messages, takeovers, publisher, ingress != null);
      }
    }
  }

  private Channel declare(Connection connection, @Nullable String ingress) throws IOException {
    Channel channel = connection.createChannel();
    channel.queueDeclare(queue(), true, false, false, Map.of());
    if (ingress != null) {
      channel.exchangeDeclare(ingress, "fanout", true);
      channel.queueBind(queue(), ingress, "");
    }
    return channel;
  }

  /** When all was handled. */
  private void verify(
      int messages, List<Takeover> takeovers, NumberPublisher publisher, boolean twoWays) {
    assertThat(processes().handledTogether()).isEmpty();
    assertThat(processes().handledInDoubt()).isEmpty();
    assertThat(processes().certain().stream().map(Certain::process).distinct().count())
        .isGreaterThan(1);
    List<Together> together = processes().together();
    // The broker gives the lock away while it tells the last holder, who may not know yet.
    assertThat(together).allMatch(this::isAtCut);
    assertThat(processes().termsTogether()).allMatch(this::isAtCut);
    long millis =
        TimeUnit.NANOSECONDS.toMillis(
            cuts.stream()
                .mapToLong(
                    cut -> together.stream().filter(cut::has).mapToLong(Together::nanos).sum())
                .max()
                .orElseThrow());
    int twice = processes().handled().size() - messages;
    Set<Integer> seen = new HashSet<>();
    long publishedTwice =
        processes().handled().stream()
            .map(Handled::number)
            .filter(publisher::isTwice)
            .filter(number -> !seen.add(number))
            .count();
    System.out.printf(
        "Sole consumer%s on RabbitMQ %s: %d messages, %d takeovers, %d cuts of the consumer alone,"
            + " %d handled twice, %d of them published twice, %d refused, 0 lost; two were certain"
            + " for %d ms at most, at %d of the cuts%n",
        twoWays ? " by two ways" : "",
        fixture.broker().version(),
        messages,
        takeovers.size(),
        cuts.size(),
        twice,
        publishedTwice,
        publisher.again(),
        millis,
        cuts.stream().filter(cut -> together.stream().anyMatch(cut::has)).count());
    assertThat(millis).as("%s", together).isLessThan(TOLD.toMillis());
    // Of those that are sent ahead, ten, the last acknowledgements may not have reached the broker.
    // By two ways, ten more may have been handled before the tracking queue has sent them. After a
    // cut of the consumer alone, the same process has them again, and by two ways it knows their
    // ids.
    int rough = (int) takeovers.stream().filter(how -> how != Takeover.POLITE).count();
    int most = twoWays ? rough * 2 * PREFETCH : (rough + cuts.size()) * PREFETCH;
    assertThat(twice - publishedTwice).isLessThanOrEqualTo(most);
    // What was published twice may be handled before a takeover, and again after it.
    assertThat(twice)
        .isLessThanOrEqualTo(
            most + takeovers.size() * publisher.twiceAtATime() + publisher.again());
    if (twoWays) {
      assertThat(processes().handledAgain()).isEmpty();
    } else {
      assertThat(processes().handledAfterHandOver()).isEmpty();
    }
  }

  private boolean isAtCut(Together together) {
    return cuts.stream().anyMatch(cut -> cut.has(together));
  }

  /** Each kind of takeover, half of them polite. */
  private static List<Takeover> fifty() {
    List<Takeover> takeovers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      takeovers.add(
          switch (i % 10) {
            case 3, 7 -> Takeover.KILL;
            case 5 -> Takeover.STOP;
            case 1, 8 -> Takeover.CUT;
            default -> Takeover.POLITE;
          });
    }
    return takeovers;
  }

  @Test
  void nothingIsLostWhateverEndsATerm() throws Exception {
    chain(2_000, false, EACH);
  }

  @Test
  void nothingIsLostByTwoWays() throws Exception {
    chain(2_000, true, EACH);
  }

  /** 100,000 messages through 50 takeovers. Beside them the consumer alone is cut ten times. */
  @Tag("rare")
  @Tag("one-jdk")
  @Test
  void nothingIsLostInAChainOfFiftyTakeovers() throws Exception {
    chain(100_000, false, fifty());
  }

  /** The same by two ways. */
  @Tag("rare")
  @Tag("one-jdk")
  @Test
  void nothingIsLostInAChainOfFiftyTakeoversByTwoWays() throws Exception {
    chain(100_000, true, fifty());
  }

  /** The broker tells at once. With a heartbeat of 10 s, it would not do so before 20 s itself. */
  @Tag("rare")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theNextHandlesSoonAfterKillMinusNine(boolean twoWays) throws Exception {
    @Nullable String ingress = twoWays ? ingress() : null;
    started = new SoleProcesses(fixture.prefix(), queue(), "mutex", ingress, 10);
    try (Connection connection = fixture.stranger()) {
      Channel unusedChannel = declare(connection, ingress);
      ChildJvm unused = processes().start(fixture.broker());
      try (NumberPublisher publisher =
          new NumberPublisher(fixture::stranger, ingress, queue(), 60, 3)) {
        for (int kill = 1; kill <= 3; kill++) {
          ChildJvm next = processes().start(fixture.broker());
          ChildJvm active = processes().active();
          awaitNext();
          active.send("hold");
          active.awaitLine("HOLDS", SoleProcesses.START);
          publisher.allowShare();
          // It dies with this one in hand, and others sent ahead.
          active.awaitLine("BEGUN", SoleProcesses.START);
          long killed = System.nanoTime();
          active.killNow();
          long handled = firstHandledAfter(killed);
          int messages = 20 * kill;
          // The next one that dies has nothing in hand yet.
          await()
              .atMost(SoleProcesses.START)
              .until(() -> processes().unhandled(messages).isEmpty());
          long millis = TimeUnit.NANOSECONDS.toMillis(handled - killed);
          System.out.printf(
              "Sole consumer%s on RabbitMQ %s: first message of the next one %d ms after kill -9%n",
              twoWays ? " by two ways" : "", fixture.broker().version(), millis);
          assertThat(millis).isLessThan(12_000);
          assertThat(processes().active()).isSameAs(next);
        }
      }
    }
  }

  /** When that was, by the clock of {@link System#nanoTime()}, which processes share. */
  private long firstHandledAfter(long moment) {
    return await()
        .atMost(SoleProcesses.START)
        .until(
            () ->
                processes().handled().stream()
                    .mapToLong(Handled::end)
                    .filter(end -> end - moment > 0)
                    .min(),
            OptionalLong::isPresent)
        .orElseThrow();
  }
}
