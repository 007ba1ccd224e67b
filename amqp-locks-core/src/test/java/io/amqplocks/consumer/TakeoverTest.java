package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.amqplocks.consumer.SoleProcesses.Certain;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
    CUT
  }

  private static final List<Takeover> EACH =
      List.of(Takeover.POLITE, Takeover.KILL, Takeover.CUT, Takeover.STOP, Takeover.POLITE);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private @Nullable SoleProcesses started;

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

  /** Two or three of the processes live at each time. */
  private void takeOver(Takeover how) {
    ChildJvm active = processes().active();
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
      case CUT ->
          // The active one may have become so just now, and not be connected yet.
          await()
              .atMost(SoleProcesses.START)
              .ignoreException(IllegalStateException.class)
              .untilAsserted(
                  () ->
                      fixture
                          .broker()
                          .faults()
                          .closeConnections("amqp-locks consumer of " + queue(), "cut"));
    }
    if (how == Takeover.POLITE || how == Takeover.STOP) {
      await().atMost(SoleProcesses.START).until(() -> SoleProcesses.ended(active) > before);
    }
    ChildJvm unused = processes().active();
  }

  private void chain(int messages, boolean twoWays, List<Takeover> takeovers) throws Exception {
    AtomicInteger published = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    @Nullable String ingress = twoWays ? ingress() : null;
    started = new SoleProcesses(fixture.prefix(), queue(), "mutex", ingress);
    try (Connection connection = fixture.stranger()) {
      Channel channel = connection.createChannel();
      channel.queueDeclare(queue(), true, false, false, Map.of());
      if (ingress != null) {
        channel.exchangeDeclare(ingress, "fanout", true);
        channel.queueBind(queue(), ingress, "");
      }
      channel.confirmSelect();
      ChildJvm first = processes().start(fixture.broker());
      ChildJvm second = processes().start(fixture.broker());
      assertThat(List.of(first, second)).allMatch(ChildJvm::isAlive);
      CompletableFuture<Void> publisher =
          CompletableFuture.runAsync(
              () -> {
                try {
                  publish(channel, ingress, published, over, messages);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      for (Takeover how : takeovers) {
        int sofar = published.get();
        takeOver(how);
        // So that something is handled in each term.
        await()
            .atMost(SoleProcesses.START)
            .until(() -> published.get() > sofar + 10 || published.get() == messages);
      }
      over.set(true);
      publisher.get(5, TimeUnit.MINUTES);
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
    }
    assertThat(processes().handledTogether()).isEmpty();
    assertThat(processes().certain().stream().map(Certain::process).distinct().count())
        .isGreaterThan(1);
    assertThat(processes().together()).isEmpty();
    int twice = processes().handled().size() - messages;
    System.out.printf(
        "Sole consumer%s on RabbitMQ %s: %d messages, %d takeovers, %d handled twice, 0 lost%n",
        twoWays ? " by two ways" : "",
        fixture.broker().version(),
        messages,
        takeovers.size(),
        twice);
    // Of those that are sent ahead, ten, the last acknowledgements may not have reached the broker.
    // By two ways, ten more may have been handled before the tracking queue has sent them, and one
    // may have been refused and published again.
    long rough = takeovers.stream().filter(how -> how != Takeover.POLITE).count();
    assertThat(twice).isLessThanOrEqualTo((int) rough * (twoWays ? 21 : 10));
  }

  /** Some at each time, so that there is always something to do until the last takeover is over. */
  private void publish(
      Channel channel,
      @Nullable String ingress,
      AtomicInteger published,
      AtomicBoolean over,
      int messages)
      throws Exception {
    while (published.get() < messages) {
      int first = published.get();
      int some = Math.min(messages - first, over.get() ? 1000 : Math.max(1, messages / 2_000));
      do {
        for (int i = first; i < first + some; i++) {
          publish(channel, ingress, Integer.toString(i));
        }
        // It is refused if the queue of an active one has just ended.
      } while (!channel.waitForConfirms(30_000));
      published.set(first + some);
      if (!over.get()) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
    }
  }

  private void publish(Channel channel, @Nullable String ingress, String number)
      throws IOException {
    channel.basicPublish(
        ingress != null ? ingress : "",
        queue(),
        MessageProperties.PERSISTENT_BASIC.builder().messageId(number).build(),
        number.getBytes(StandardCharsets.UTF_8));
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

  /** 100,000 messages through 50 takeovers. */
  @Tag("rare")
  @Test
  void nothingIsLostInAChainOfFiftyTakeovers() throws Exception {
    chain(100_000, false, fifty());
  }

  /** The same by two ways. */
  @Tag("rare")
  @Test
  void nothingIsLostInAChainOfFiftyTakeoversByTwoWays() throws Exception {
    chain(100_000, true, fifty());
  }
}
