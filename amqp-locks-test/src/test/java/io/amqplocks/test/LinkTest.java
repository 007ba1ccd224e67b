package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class LinkTest {

  /** A black hole that ends when it was looked at, and before what was seen has an effect. */
  private static final class Clearing extends Weather {
    final AtomicReference<Link> link = new AtomicReference<>();

    @Override
    boolean swallows(Direction one) {
      boolean swallowed = super.swallows(one);
      if (swallowed) {
        clear();
        link.get().closeIfHalfLost();
      }
      return swallowed;
    }
  }

  @Test
  void anEndThatIsSwallowedAsTheBlackHoleEndsClosesTheOtherSide() throws Exception {
    Clearing weather = new Clearing();
    AtomicBoolean ended = new AtomicBoolean();
    try (ServerSocket clients = FreePorts.bind(0);
        ServerSocket brokers = FreePorts.bind(0);
        Socket client = new Socket(FreePorts.loopback(), clients.getLocalPort());
        Socket accepted = clients.accept()) {
      Link link = new Link(accepted, weather, (direction, bytes) -> {}, gone -> ended.set(true));
      weather.link.set(link);
      weather.blackHole(Direction.CLIENT_TO_BROKER);
      link.open(new InetSocketAddress(FreePorts.loopback(), brokers.getLocalPort()));
      try (Socket broker = brokers.accept()) {
        client.shutdownOutput();
        broker.setSoTimeout(30_000);
        assertThat(broker.getInputStream().read()).isEqualTo(-1);
        await().atMost(Duration.ofMinutes(1)).untilTrue(ended);
      } finally {
        link.close();
      }
    }
  }
}
