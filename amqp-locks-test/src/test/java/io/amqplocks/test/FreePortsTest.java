package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FreePortsTest {

  @Test
  void noPortIsGivenTwice() {
    Set<Integer> given = new HashSet<>();
    for (int count = 0; count < 1_000; count++) {
      assertThat(given.add(FreePorts.next())).isTrue();
    }
  }

  @Test
  void thereMayBeMoreProxiesThanPortsOneAfterTheOther() {
    for (int count = 0; count < 16_000; count++) {
      try (TcpProxy proxy = new TcpProxy("127.0.0.1", 1)) {
        assertThat(proxy.port()).isPositive();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBrokerWhosePortWasTakenMeanwhileStartsOnAnother(boolean forNodes) throws IOException {
    LocalSource source = new LocalSource(System.getenv());
    assumeThat(source.lines()).as("a rabbitmq-server on this machine").isNotEmpty();
    Installation installation = source.find(source.lines().get(0)).orElseThrow();
    List<NodePlace> places = new ArrayList<>();
    try (ServerSocket stranger = FreePorts.bind(0);
        OwnedBroker broker =
            FreePorts.retryIfTaken(
                () -> {
                  NodePlace place = NodePlace.alone(installation);
                  int taken = stranger.getLocalPort();
                  NodePlace first =
                      forNodes
                          ? at(place, place.amqpPort(), taken)
                          : at(place, taken, place.distributionPort());
                  places.add(places.isEmpty() ? first : place);
                  return LocalSource.start(places.get(places.size() - 1));
                })) {
      assertThat(places).hasSize(2);
      assertThat(broker.port()).isEqualTo(places.get(1).amqpPort());
    }
  }

  private static NodePlace at(NodePlace place, int port, int distributionPort) {
    return new NodePlace(
        place.installation(),
        place.within(),
        place.host(),
        place.nodeHost(),
        place.nodeName(),
        port,
        distributionPort,
        place.epmdPort(),
        place.cookie(),
        place.configuration());
  }

  @Test
  void aPortThatIsAlwaysTakenIsTriedThreeTimes() {
    AtomicInteger starts = new AtomicInteger();
    assertThatThrownBy(
            () ->
                FreePorts.retryIfTaken(
                    () -> {
                      starts.incrementAndGet();
                      throw new IllegalStateException("listen_error, eaddrinuse");
                    }))
        .hasMessageContaining("eaddrinuse");
    assertThat(starts).hasValue(3);
  }

  @Test
  void anyOtherFailureIsFinal() {
    AtomicInteger starts = new AtomicInteger();
    assertThatThrownBy(
            () ->
                FreePorts.retryIfTaken(
                    () -> {
                      starts.incrementAndGet();
                      throw new IllegalStateException("out of luck");
                    }))
        .hasMessage("out of luck");
    assertThat(starts).hasValue(1);
  }
}
