package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TcpProxyTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private static final int SILENCE_MILLIS = 300;

  private final BlockingQueue<Socket> accepted = new LinkedBlockingQueue<>();
  private ServerSocket server;
  private TcpProxy proxy;
  private Socket client;
  private Socket broker;
  private Thread acceptor;

  @BeforeEach
  void connect() throws Exception {
    server = FreePorts.bind(0);
    acceptor = ProxyThreads.start("test-server", this::acceptAll);
    proxy = new TcpProxy("127.0.0.1", server.getLocalPort());
    client = new Socket(proxy.host(), proxy.port());
    broker = nextAccepted();
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
    client.close();
    server.close();
  }

  private void acceptAll() {
    try {
      while (true) {
        accepted.add(server.accept());
      }
    } catch (IOException closed) {
      // The end of the test.
    }
  }

  private Socket nextAccepted() throws InterruptedException {
    Socket socket = accepted.poll(30, TimeUnit.SECONDS);
    assertThat(socket).isNotNull();
    return socket;
  }

  private static void send(Socket from, int value) throws IOException {
    from.getOutputStream().write(value);
  }

  private static int receive(Socket at) throws IOException {
    at.setSoTimeout(30_000);
    return at.getInputStream().read();
  }

  private static void assertSilent(Socket at) throws IOException {
    at.setSoTimeout(SILENCE_MILLIS);
    assertThatThrownBy(() -> at.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
  }

  @Test
  void passesBytesBothWays() throws IOException {
    assertPasses();
    assertThat(proxy.connections()).isEqualTo(1);
  }

  private void assertPasses() throws IOException {
    send(client, 1);
    assertThat(receive(broker)).isEqualTo(1);
    send(broker, 2);
    assertThat(receive(client)).isEqualTo(2);
  }

  @Test
  void passesTheEndOfOneSideOn() throws IOException {
    client.close();
    assertThat(receive(broker)).isEqualTo(-1);
    broker.close();
    await().atMost(LONG).until(() -> proxy.connections() == 0);
  }

  @Test
  void cutEndsBothSidesInOrder() throws Exception {
    proxy.cut();
    assertThat(receive(client)).isEqualTo(-1);
    assertThat(receive(broker)).isEqualTo(-1);
    assertNewConnectionWorks();
  }

  @Test
  void resetBreaksBothSides() throws Exception {
    assertPasses();
    proxy.reset();
    assertThatThrownBy(() -> receive(client)).isInstanceOf(SocketException.class);
    assertThatThrownBy(() -> receive(broker)).isInstanceOf(SocketException.class);
    assertNewConnectionWorks();
  }

  @Test
  void resetOfTheServerSideLeavesTheClientInSilence() throws Exception {
    proxy.resetServerSide();
    assertThatThrownBy(() -> receive(broker)).isInstanceOf(SocketException.class);
    send(client, 1);
    assertSilent(client);
    assertNewConnectionWorks();
    proxy.heal();
    assertThat(endOf(client)).isTrue();
  }

  private static boolean endOf(Socket socket) throws IOException {
    try {
      return receive(socket) == -1;
    } catch (SocketException reset) {
      return true;
    }
  }

  private void assertNewConnectionWorks() throws Exception {
    try (Socket second = new Socket(proxy.host(), proxy.port());
        Socket at = nextAccepted()) {
      send(second, 7);
      assertThat(receive(at)).isEqualTo(7);
    }
  }

  @Test
  void blackHoleSwallowsOneDirectionUntilHealed() throws IOException {
    proxy.blackHole(Direction.CLIENT_TO_BROKER);
    send(client, 1);
    assertSilent(broker);
    send(broker, 2);
    assertThat(receive(client)).isEqualTo(2);

    proxy.heal();
    send(client, 3);
    assertThat(receive(broker)).isEqualTo(3);
  }

  @Test
  void blackHoleSwallowsBothDirectionsAndTheEnd() throws IOException {
    proxy.blackHole(Direction.BOTH);
    send(broker, 1);
    client.close();
    assertSilent(broker);

    proxy.heal();
    assertThat(endOf(broker)).isTrue();
  }

  @Test
  void blackHoleIsThereForNewConnectionsToo() throws Exception {
    proxy.blackHole(Direction.BROKER_TO_CLIENT);
    try (Socket second = new Socket(proxy.host(), proxy.port());
        Socket at = nextAccepted()) {
      send(at, 1);
      assertSilent(second);
    }
  }

  @Test
  void blackHoleSwallowsWhatATapHolds() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    WireTap tap =
        (connection, direction, bytes) -> {
          held.countDown();
          awaits(goOn);
        };
    try (TcpProxy tapped = new TcpProxy("127.0.0.1", server.getLocalPort(), tap);
        Socket sender = new Socket(tapped.host(), tapped.port());
        Socket at = nextAccepted()) {
      send(sender, 1);
      awaits(held);
      tapped.blackHole(Direction.CLIENT_TO_BROKER);
      goOn.countDown();
      assertSilent(at);
    }
  }

  private static void awaits(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anExceptionOfATapClosesTheConnection() throws Exception {
    CompletableFuture<Throwable> uncaught = new CompletableFuture<>();
    IllegalStateException failure = new IllegalStateException("Of a tap, for this test");
    WireTap tap =
        (connection, direction, bytes) -> {
          // Else an Awaitility that waits at the same time, for another test, takes it for its own.
          Thread.currentThread()
              .setUncaughtExceptionHandler((thread, thrown) -> uncaught.complete(thrown));
          throw failure;
        };
    try (TcpProxy tapped = new TcpProxy("127.0.0.1", server.getLocalPort(), tap);
        Socket sender = new Socket(tapped.host(), tapped.port());
        Socket at = nextAccepted()) {
      send(sender, 1);
      assertThat(endOf(sender)).isTrue();
      assertThat(endOf(at)).isTrue();
      await().atMost(LONG).until(() -> tapped.connections() == 0);
      assertThat(uncaught.get(30, TimeUnit.SECONDS)).isSameAs(failure);
    }
  }

  /** While it writes what the other side does not read. */
  @Test
  void blackHoleDoesNotWaitForASideThatReadsNothing() throws Exception {
    // The proxy takes it all, and the sockets behind it do not.
    ProxyThreads.awaitEnd(ProxyThreads.start("test-sender", () -> sendAll(new byte[1 << 25])));
    assertTimeoutPreemptively(LONG, () -> proxy.blackHole(Direction.BOTH));
  }

  @Test
  void delayKeepsOrderAndThroughput() throws IOException {
    proxy.delay(Direction.CLIENT_TO_BROKER, Duration.ofMillis(300));
    byte[] much = new byte[1 << 22];
    for (int i = 0; i < much.length; i++) {
      much[i] = (byte) (i >> 12);
    }
    long begin = System.nanoTime();
    ProxyThreads.start("test-sender", () -> sendAll(much));
    broker.setSoTimeout(30_000);

    int first = broker.getInputStream().read();
    long firstAfter = System.nanoTime() - begin;
    byte[] rest = broker.getInputStream().readNBytes(much.length - 1);
    long allAfter = System.nanoTime() - begin;

    assertThat(first).isEqualTo(much[0]);
    assertThat(rest).isEqualTo(Arrays.copyOfRange(much, 1, much.length));
    assertThat(Duration.ofNanos(firstAfter)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
    assertThat(Duration.ofNanos(allAfter)).isLessThan(Duration.ofSeconds(30));
    send(broker, 5);
    assertThat(receive(client)).isEqualTo(5);
  }

  private void sendAll(byte[] bytes) {
    try {
      client.getOutputStream().write(bytes);
    } catch (IOException closed) {
      // The reader will miss what was not sent.
    }
  }

  @Test
  void refusesNewConnectionsAndKeepsOldOnes() throws Exception {
    proxy.refuse(true);
    proxy.refuse(true);
    assertThatThrownBy(() -> new Socket(proxy.host(), proxy.port()))
        .isInstanceOf(ConnectException.class);
    assertPasses();
    proxy.refuse(false);
    assertNewConnectionWorks();
  }

  @Test
  void unreachableBrokerClosesTheClient() throws Exception {
    server.close();
    // Until its last user has left it, it may still accept one.
    ProxyThreads.awaitEnd(acceptor);
    try (Socket second = new Socket(proxy.host(), proxy.port())) {
      assertThat(endOf(second)).isTrue();
    }
  }

  @Test
  void closeEndsEverything() throws IOException {
    proxy.close();
    assertThat(endOf(client)).isTrue();
    assertThat(endOf(broker)).isTrue();
    assertThat(proxy.connections()).isZero();
    proxy.refuse(false);
    assertThatThrownBy(() -> new Socket(proxy.host(), proxy.port()))
        .isInstanceOf(ConnectException.class);
  }
}
