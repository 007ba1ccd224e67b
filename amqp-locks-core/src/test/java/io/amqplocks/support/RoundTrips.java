package io.amqplocks.support;

import io.amqplocks.test.Broker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A way to a broker that counts round trips. Whatever the broker says is kept back until the client
 * has been silent for a while, then handed over in one piece: that is one round trip. So a client
 * that asks everything before it needs the first answer is counted once, and one that cannot ask
 * the next thing without an answer is counted for each; how long it all takes does not matter. A
 * client that pauses in the middle of asking may be counted once too often, never too seldom.
 *
 * <p>Concurrency: what was said and not yet handed over is guarded by a lock of its connection.
 */
public final class RoundTrips implements AutoCloseable {

  private static final long SILENCE_NANOS = 150_000_000;

  private final Broker broker;
  private final ServerSocket listener;
  private final AtomicInteger count = new AtomicInteger();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  public RoundTrips(Broker broker) throws IOException {
    this.broker = broker;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(this::accept);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /** How many there were so far, on all connections. */
  public int count() {
    return count.get();
  }

  private void accept() throws IOException {
    while (true) {
      Socket client = listener.accept();
      Socket server = new Socket(broker.host(), broker.port());
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      sockets.addAll(List.of(client, server));
      Talk talk = new Talk(client, server);
      daemon(talk::listenToClient);
      daemon(talk::listenToServer);
      daemon(talk::handOver);
    }
  }

  private final class Talk {

    private final Socket client;
    private final Socket server;
    private final ReentrantLock lock = new ReentrantLock();
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
    private long lastAsked = System.nanoTime();

    Talk(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void listenToClient() throws IOException {
      byte[] buffer = new byte[65_536];
      InputStream from = client.getInputStream();
      for (int read = from.read(buffer); read >= 0; read = from.read(buffer)) {
        lock.lock();
        try {
          lastAsked = System.nanoTime();
        } finally {
          lock.unlock();
        }
        server.getOutputStream().write(buffer, 0, read);
      }
      server.close();
    }

    void listenToServer() throws IOException {
      byte[] buffer = new byte[65_536];
      InputStream from = server.getInputStream();
      for (int read = from.read(buffer); read >= 0; read = from.read(buffer)) {
        lock.lock();
        try {
          kept.write(buffer, 0, read);
        } finally {
          lock.unlock();
        }
      }
      client.close();
    }

    void handOver() throws IOException, InterruptedException {
      OutputStream to = client.getOutputStream();
      while (!client.isClosed()) {
        byte[] answers = answers();
        if (answers.length > 0) {
          count.incrementAndGet();
          to.write(answers);
        }
        Thread.sleep(5);
      }
    }

    private byte[] answers() {
      lock.lock();
      try {
        if (System.nanoTime() - lastAsked < SILENCE_NANOS) {
          return new byte[0];
        }
        byte[] answers = kept.toByteArray();
        kept.reset();
        return answers;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Something that ends when its socket does. */
  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static void daemon(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException closed) {
                // The end of the connection, or of the test.
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "round-trips");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
