package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

/**
 * Free loopback ports below the range that systems take outgoing connections' ports from: one of
 * those could be taken while a killed broker is down, or connect a client to itself. None is given
 * twice in the same JVM, because a broker listens seconds after its port was chosen; those that are
 * given back are, but only when it is hard to find others. Another process may still be quicker.
 */
public final class FreePorts {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int FIRST = 15_000;
  private static final int COUNT = 15_000;
  private static final int ATTEMPTS = 200;
  private static final int STARTS = 3;

  /** How Erlang says that a port is taken. */
  private static final String TAKEN = "eaddrinuse";

  /** How RabbitMQ says so of the port that is for other nodes. */
  private static final String NOT_FOR_NODES = "could not bind to distribution port";

  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  /** Late ones of their old clients may still come, so the oldest is the first to be used again. */
  private static final Queue<Integer> BACK = new ConcurrentLinkedQueue<>();

  private FreePorts() {}

  /** A port that nobody listens at now. */
  public static int next() {
    try (ServerSocket probe = open()) {
      return probe.getLocalPort();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** A socket that listens at such a port, so that no other process can be quicker. */
  static ServerSocket open() {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      int port = FIRST + RANDOM.nextInt(COUNT);
      if (!GIVEN.add(port)) {
        continue;
      }
      try {
        return bind(port);
      } catch (IOException taken) {
        GIVEN.remove(port); // Until whoever has it is gone. Then another one.
      }
    }
    return openAgain();
  }

  private static ServerSocket openAgain() {
    for (Integer port = BACK.poll(); port != null; port = BACK.poll()) {
      try {
        return bind(port);
      } catch (IOException taken) {
        GIVEN.remove(port);
      }
    }
    throw new IllegalStateException("No free port between " + FIRST + " and " + (FIRST + COUNT));
  }

  /** Gives back a port at which nobody listens any more. */
  static void giveBack(int port) {
    BACK.add(port);
  }

  /**
   * What this starts on ports of its own choice. If one of them was taken meanwhile it is started
   * again, at most twice.
   */
  static <T> T retryIfTaken(Supplier<T> start) {
    for (int attempt = 1; ; attempt++) {
      try {
        return start.get();
      } catch (IllegalStateException failed) {
        String why = String.valueOf(failed.getMessage());
        if (attempt == STARTS || !(why.contains(TAKEN) || why.contains(NOT_FOR_NODES))) {
          throw failed;
        }
      }
    }
  }

  /**
   * For the message of what could not start at this port: that it is taken, in the words that
   * {@link #retryIfTaken} looks for; empty if it is free.
   */
  static String whyNot(int port) {
    try (ServerSocket unused = bind(port)) {
      return "";
    } catch (IOException taken) {
      return ": " + TAKEN;
    }
  }

  static ServerSocket bind(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(loopback(), port));
    return socket;
  }

  static InetAddress loopback() {
    try {
      return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
