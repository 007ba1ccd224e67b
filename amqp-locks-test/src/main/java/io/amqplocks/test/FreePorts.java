package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.security.SecureRandom;

/**
 * Free loopback ports below the range that systems take outgoing connections' ports from: one of
 * those could be taken while a killed broker is down, or connect a client to itself.
 */
final class FreePorts {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int FIRST = 15_000;
  private static final int COUNT = 15_000;
  private static final int ATTEMPTS = 200;

  private FreePorts() {}

  static int next() {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      int port = FIRST + RANDOM.nextInt(COUNT);
      try (ServerSocket probe = bind(port)) {
        return probe.getLocalPort();
      } catch (IOException taken) {
        // Then another one.
      }
    }
    throw new IllegalStateException("No free port between " + FIRST + " and " + (FIRST + COUNT));
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
