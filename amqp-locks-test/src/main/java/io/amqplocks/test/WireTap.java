package io.amqplocks.test;

/** Sees what passes through a {@link TcpProxy}, for instance to count frames. */
@FunctionalInterface
public interface WireTap {

  /**
   * Is called before bytes go on to the other side. Calls for one direction of a connection come in
   * order and one at a time; others may come at once. Who blocks here holds up the connection. If a
   * black hole begins meanwhile, the bytes do not arrive. An exception closes the connection, and
   * goes to the handler of uncaught ones.
   *
   * @param connection the number of the connection through this proxy, from 1
   * @param direction the one way that they take, never {@link Direction#BOTH}
   * @param bytes what passes, which nobody may change
   */
  void passing(int connection, Direction direction, byte[] bytes);
}
