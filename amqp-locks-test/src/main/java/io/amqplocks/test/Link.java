package io.amqplocks.test;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** One connection through a {@link TcpProxy}: two sockets, and a lane for each direction. */
final class Link {

  private static final int CONNECT_MILLIS = 5_000;

  private final Socket client;
  private final Socket server = new Socket();
  private final Lane toBroker;
  private final Lane toClient;
  private final Consumer<Link> ended;
  private final AtomicInteger openLanes = new AtomicInteger(2);
  private final AtomicBoolean halfLost = new AtomicBoolean();
  private final AtomicBoolean over = new AtomicBoolean();

  Link(Socket client, Weather weather, BiConsumer<Direction, byte[]> tap, Consumer<Link> ended) {
    this.client = client;
    this.ended = ended;
    this.toBroker = new Lane(Direction.CLIENT_TO_BROKER, client, server, weather, tap, this);
    this.toClient = new Lane(Direction.BROKER_TO_CLIENT, server, client, weather, tap, this);
  }

  /** Connects to the broker and begins; closes the client's side if there is no broker. */
  void open(InetSocketAddress broker) {
    try {
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      server.connect(broker, CONNECT_MILLIS);
    } catch (IOException unreachable) {
      if (!halfLost.get()) {
        close();
        return;
      }
    }
    toBroker.start();
    toClient.start();
    if (over.get()) {
      close(); // A fault came while it connected.
    }
  }

  /** A socket that is closed with unread bytes answers RST: so both are read to their end. */
  void cut() {
    toBroker.swallowAll();
    toClient.swallowAll();
    shutdownOutput(client);
    shutdownOutput(server);
    end();
  }

  void reset() {
    toBroker.swallowAll();
    toClient.swallowAll();
    reset(client);
    reset(server);
    end();
  }

  void resetServerSide() {
    halfLost.set(true);
    toBroker.swallowAll();
    toClient.swallowAll();
    reset(server);
  }

  /** Waits for bytes that are being passed on; see {@link Lane#awaitPassing}. */
  void awaitPassing(Direction direction, long end) {
    if (direction.covers(Direction.CLIENT_TO_BROKER)) {
      toBroker.awaitPassing(end);
    }
    if (direction.covers(Direction.BROKER_TO_CLIENT)) {
      toClient.awaitPassing(end);
    }
  }

  void closeIfHalfLost() {
    if (halfLost.get()) {
      close();
    }
  }

  void close() {
    ProxyThreads.closeQuietly(client);
    ProxyThreads.closeQuietly(server);
    toBroker.stop();
    toClient.stop();
    end();
  }

  private void end() {
    over.set(true);
    ended.accept(this);
  }

  /** A lane came to its end, and its end was swallowed. */
  void endSwallowed() {
    halfLost.set(true);
  }

  /** A lane came to its end and passed it on; with the second the connection is over. */
  void laneEnded() {
    if (openLanes.decrementAndGet() == 0) {
      close();
    }
  }

  private static void shutdownOutput(Socket socket) {
    try {
      socket.shutdownOutput();
    } catch (IOException gone) {
      // Then there is nobody to tell.
    }
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
    } catch (IOException gone) {
      // Closed already.
    }
    ProxyThreads.closeQuietly(socket);
  }
}
