package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy on a free loopback port, between clients and a broker, that can fail in the ways that
 * networks do.
 *
 * <pre>{@code
 * try (TcpProxy proxy = TcpProxy.to(broker)) {
 *   ConnectionFactory factory = broker.connectionFactory();
 *   factory.setHost(proxy.host());
 *   factory.setPort(proxy.port());
 *   Connection connection = factory.newConnection();
 *   proxy.blackHole(Direction.BOTH);
 * }
 * }</pre>
 *
 * <p>{@link #blackHole} and {@link #delay} hold for connections there are and for new ones, until
 * {@link #heal()}. All methods may be called from any thread.
 */
public final class TcpProxy implements AutoCloseable {

  private static final long PASSING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** How long it may take a process to close what it has from the one that started it. */
  private static final long COPIED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final int PROBE_MILLIS = 100;

  private final InetSocketAddress target;
  private final WireTap tap;
  private final AtomicInteger accepted = new AtomicInteger();
  private final Weather weather = new Weather();
  private final List<Link> links = new CopyOnWriteArrayList<>();
  private final ReentrantLock listening = new ReentrantLock();
  private final int port;
  private @Nullable ServerSocket listener;
  private @Nullable Thread acceptor;
  private boolean closed;

  /** A proxy in front of this broker. */
  public static TcpProxy to(Broker broker) {
    return new TcpProxy(broker.host(), broker.port());
  }

  /** A proxy in front of this broker that shows what passes. */
  public static TcpProxy to(Broker broker, WireTap tap) {
    return new TcpProxy(broker.host(), broker.port(), tap);
  }

  /**
   * A proxy in front of any server.
   *
   * @throws IllegalStateException if no port can be had
   */
  public TcpProxy(String host, int port) {
    this(host, port, (connection, direction, bytes) -> {});
  }

  TcpProxy(String host, int port, WireTap tap) {
    this.tap = tap;
    this.target = new InetSocketAddress(host, port);
    ServerSocket first = FreePorts.open();
    this.port = first.getLocalPort();
    listen(first);
  }

  /** The host that clients connect to. */
  public String host() {
    return "127.0.0.1";
  }

  /** The port that clients connect to. */
  public int port() {
    return port;
  }

  /** How many connections go through the proxy now. */
  public int connections() {
    return links.size();
  }

  /** Closes all current connections in an orderly way (FIN), to both sides. New ones may come. */
  public void cut() {
    links.forEach(Link::cut);
  }

  /** Breaks all current connections (RST), to both sides. New ones may come. */
  public void reset() {
    links.forEach(Link::reset);
  }

  /**
   * Breaks the broker's side of all current connections (RST). The client's sockets stay open and
   * silent; what they send is swallowed. New connections may come.
   */
  public void resetServerSide() {
    links.forEach(Link::resetServerSide);
  }

  /**
   * Swallows all bytes in this direction, those under way too. Sockets stay open, and the closing
   * of one is not passed on either. Adds to an earlier black hole. When it returns, no byte arrives
   * any more, but for some that the proxy is just writing to a side which reads nothing. It waits
   * for a second at most, and not at all in an interrupted thread.
   */
  public void blackHole(Direction direction) {
    weather.blackHole(direction);
    long end = System.nanoTime() + PASSING_NANOS;
    links.forEach(link -> link.awaitPassing(direction, end));
  }

  /**
   * Lets bytes in this direction arrive this much later, in order and with no loss of throughput.
   * Bytes that are under way keep their time. Zero ends the delay.
   */
  public void delay(Direction direction, Duration delay) {
    weather.delay(direction, delay);
  }

  /**
   * Ends black holes, delays and refusal. Swallowed bytes stay lost; a connection of which one side
   * was closed meanwhile is closed on the other.
   */
  public void heal() {
    weather.clear();
    links.forEach(Link::closeIfHalfLost);
    refuse(false);
  }

  /** Whether to refuse new connections, as a host does on which nothing listens. */
  public void refuse(boolean refuse) {
    listening.lock();
    try {
      if (closed || refuse == (listener == null)) {
        return;
      }
      if (refuse) {
        stopListening();
      } else {
        listen();
      }
    } finally {
      listening.unlock();
    }
  }

  /** Stops listening and closes all connections. */
  @Override
  public void close() {
    listening.lock();
    try {
      stopListening();
      if (!closed) {
        FreePorts.giveBack(port);
      }
      closed = true;
    } finally {
      listening.unlock();
    }
    links.forEach(Link::close);
  }

  private void listen(ServerSocket socket) {
    listener = socket;
    acceptor = ProxyThreads.start("accept-" + port, () -> accept(socket));
  }

  private void listen() {
    try {
      listen(FreePorts.bind(port));
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot listen on port " + port, failed);
    }
  }

  private void stopListening() {
    ServerSocket socket = listener;
    listener = null;
    Thread accepting = acceptor;
    if (socket != null && accepting != null) {
      ProxyThreads.closeQuietly(socket);
      // Only when its last user has left it does the socket stop listening.
      ProxyThreads.awaitEnd(accepting);
      awaitRefusal();
    }
  }

  /** A process that is just being started has a copy of the socket, for a moment. */
  private void awaitRefusal() {
    long end = System.nanoTime() + COPIED_NANOS;
    while (!isRefused() && end - System.nanoTime() > 0) {
      LockSupport.parkNanos(PROBE_NANOS);
    }
  }

  /** What is neither accepted nor refused is in the queue of a listener that nobody serves. */
  private boolean isRefused() {
    try (Socket probe = new Socket()) {
      probe.connect(new InetSocketAddress(FreePorts.loopback(), port), PROBE_MILLIS);
      return false;
    } catch (SocketTimeoutException listening) {
      return false;
    } catch (IOException refused) {
      return true;
    }
  }

  private void accept(ServerSocket socket) {
    try {
      while (true) {
        // Known before it is connected, so that a fault finds it as soon as the broker does.
        Socket client = socket.accept();
        int number = accepted.incrementAndGet();
        Link link =
            new Link(
                client,
                weather,
                (direction, bytes) -> tap.passing(number, direction, bytes),
                links::remove);
        links.add(link);
        ProxyThreads.start("connect-" + port, () -> link.open(target));
      }
    } catch (IOException closedListener) {
      // The way to stop listening.
    }
  }
}
