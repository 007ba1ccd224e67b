package io.amqplocks.benchmarks.peers;

/** A client of a system, with connections of its own, as each process has one. */
interface PeerClient extends AutoCloseable {

  /**
   * A lock.
   *
   * @param kind one of this system
   * @param name clients that say the same name share the lock
   */
  PeerLock lock(Kind kind, String name) throws Exception;

  /** Closes the connections. */
  @Override
  void close() throws Exception;
}
