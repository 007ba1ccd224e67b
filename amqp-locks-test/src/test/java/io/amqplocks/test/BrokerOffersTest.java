package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

class BrokerOffersTest {

  private record Fake(List<String> lines) implements BrokerSource {

    @Override
    public Optional<String> offer(String line) {
      return lines.contains(line) ? Optional.of("Fake " + line) : Optional.empty();
    }

    @Override
    public OwnedBroker start(String line) {
      throw new IllegalStateException("started " + line + " of " + lines);
    }
  }

  private static BrokerOffers offers(Map<String, String> environment, BrokerSource... sources) {
    return new BrokerOffers(List.of(sources), environment);
  }

  @Test
  void wantsAllThatIsThereNewestFirst() {
    BrokerOffers offers =
        offers(Map.of(), new Fake(List.of("3.9", "4.3")), new Fake(List.of("3.10", "4.3")));
    assertThat(offers.wanted()).containsExactly("4.3", "3.10", "3.9");
    assertThat(offers.required()).isFalse();
  }

  @Test
  void wantsWhatIsNamedInThatOrder() {
    BrokerOffers offers =
        offers(Map.of("AMQP_LOCKS_BROKER_LINES", " 3.10,9.9 "), new Fake(List.of("4.3", "3.10")));
    assertThat(offers.wanted()).containsExactly("3.10", "9.9");
    assertThat(offers.offer("9.9")).isEmpty();
    assertThat(offers.missing("9.9")).contains("No RabbitMQ 9.9").contains("4.3, 3.10");
  }

  @Test
  void aMissingLineTakesTheTurnOfNoneUnlessItIsRequired() {
    List<String> wanted = List.of("4.3", "3.10");
    Fake newest = new Fake(List.of("4.3"));
    BrokerOffers first = offers(Map.of("AMQP_LOCKS_BROKER_TURN", "1/2"), newest);
    BrokerOffers second = offers(Map.of("AMQP_LOCKS_BROKER_TURN", "2/2"), newest);
    assertThat(first.inTurn(wanted)).as("the missing one is reported").isEqualTo(wanted);
    assertThat(second.inTurn(wanted)).containsExactly("4.3");
    assertThat(second.inTurn(List.of())).isEmpty();
    Map<String, String> required =
        Map.of("AMQP_LOCKS_BROKER_TURN", "2/2", "AMQP_LOCKS_BROKER_REQUIRED", "true");
    assertThat(offers(required, newest).inTurn(wanted)).containsExactly("3.10");
    assertThat(offers(Map.of(), newest).inTurn(wanted)).isEqualTo(wanted);
  }

  @Test
  void firstSourceThatHasTheLineServes() {
    BrokerOffers offers =
        offers(Map.of(), new Fake(List.of("4.3")), new Fake(List.of("3.10", "4.3")));
    assertThatThrownBy(() -> offers.start("4.3")).hasMessage("started 4.3 of [4.3]");
    assertThatThrownBy(() -> offers.start("3.10")).hasMessage("started 3.10 of [3.10, 4.3]");
  }

  /** Wherever it stands among the sources. */
  @Test
  void theBrokerInThisJvmServesWhereThereIsNoRabbitMq() {
    Fake rabbit = new Fake(List.of("3.10"));
    for (BrokerOffers offers :
        List.of(
            offers(Map.of(), rabbit, new EmbeddedSource()),
            offers(Map.of(), new EmbeddedSource(), rabbit))) {
      assertThat(offers.wanted()).containsExactly("3.10");
      assertThatThrownBy(offers::start).hasMessage("started 3.10 of [3.10]");
    }
    BrokerOffers without = offers(Map.of(), new Fake(List.of()), new EmbeddedSource());
    assertThat(without.wanted()).isEmpty();
    try (OwnedBroker broker = without.start()) {
      assertThat(broker.product()).startsWith("Apache Qpid Broker-J");
    }
  }

  @Test
  void theBrokerInThisJvmIsNoneThatIsRequired() {
    Map<String, String> required = Map.of("AMQP_LOCKS_BROKER_REQUIRED", "true");
    BrokerOffers offers = offers(required, new EmbeddedSource());
    assertThatThrownBy(offers::start)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(BrokerOffers.NONE);
    Map<String, String> named = Map.of("AMQP_LOCKS_BROKER_LINES", "4.3");
    assertThatThrownBy(offers(named, new EmbeddedSource())::start)
        .as("a line that is named and not there")
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(BrokerOffers.NONE);
  }

  /** As a {@link BrokerTest} that asks for no line does. */
  @Test
  void whatIsForRabbitMqIsSkippedOrFailsOnTheBrokerInThisJvm() throws Exception {
    try (SharedBrokers brokers = new SharedBrokers(offers(Map.of(), new EmbeddedSource()))) {
      assertThat(brokers.offers().wantedOfRabbitMq()).isEmpty();
      assertThatThrownBy(() -> brokers.require(""))
          .isInstanceOf(TestAbortedException.class)
          .hasMessage(BrokerOffers.NONE);
      brokers.require(Brokers.EMBEDDED);
    }
    Map<String, String> required = Map.of("AMQP_LOCKS_BROKER_REQUIRED", "true");
    try (SharedBrokers brokers = new SharedBrokers(offers(required, new EmbeddedSource()))) {
      assertThatThrownBy(() -> brokers.require(""))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(BrokerOffers.NONE);
    }
  }

  @Test
  void saysWhatToDoIfThereIsNothing() {
    BrokerOffers offers = offers(Map.of("AMQP_LOCKS_BROKER_REQUIRED", "true"));
    assertThat(offers.wanted()).isEmpty();
    assertThat(offers.required()).isTrue();
    assertThatThrownBy(() -> offers.start("4.3"))
        .hasMessageContaining("bin/broker")
        .hasMessageContaining("Docker")
        .hasMessageContaining("AMQP_LOCKS_BROKER_URI");
  }

  @Test
  void findsAServerOnThePath(@TempDir Path folder) throws IOException {
    Path scripts = Files.createDirectories(folder.resolve("rabbitmq_server-8.7.6/sbin"));
    Path script = Files.createFile(scripts.resolve("rabbitmq-server"));
    assertThat(script.toFile().setExecutable(true)).isTrue();
    Map<String, String> environment =
        Map.of("PATH", scripts.toString(), "AMQP_LOCKS_BROKER_ROOT", folder.toString());
    List<String> versions =
        Installations.find(environment).stream().map(found -> found.version().toString()).toList();
    // Where Debian's package is installed, it comes before the path.
    assertThat(versions).hasSize(1);
    if (!Files.exists(Path.of("/usr/lib/rabbitmq/bin"))) {
      assertThat(versions).containsExactly("8.7.6");
    }
  }

  @Test
  void findsTheTestingFolderWhereTheShellHasItsHome(@TempDir Path home) throws IOException {
    assumeThat(System.getProperty("user.name")).as("chroot is for root").isEqualTo("root");
    Path root = home.resolve(".cache/amqp-locks/rabbitmq-testing");
    Files.createDirectories(root.resolve("usr/lib/rabbitmq/lib/rabbitmq_server-8.7.6"));
    Files.createDirectories(root.resolve("proc/self"));
    assertThat(Installations.find(Map.of("HOME", home.toString())))
        .extracting(found -> found.version().toString())
        .contains("8.7.6");
  }

  @Test
  void versionsAreReadAndCompared() {
    assertThat(BrokerVersion.parse("4.3.6")).isEqualTo(new BrokerVersion(4, 3, 6));
    assertThat(BrokerVersion.parse("4.4.0-rc.1").line()).isEqualTo("4.4");
    assertThat(BrokerVersion.parse("3.10")).hasToString("3.10.0");
    assertThat(BrokerVersion.parse("3.10.8").isAtLeast(3, 9)).isTrue();
    assertThat(BrokerVersion.parse("3.10.8").isAtLeast(4, 0)).isFalse();
    assertThatThrownBy(() -> BrokerVersion.parse("newest"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
