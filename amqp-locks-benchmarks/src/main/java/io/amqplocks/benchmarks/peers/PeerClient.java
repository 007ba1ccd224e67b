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

  /**
   * A semaphore that has so many slots, of a kind that has slots.
   *
   * @param name nobody else's
   */
  default Semaphore semaphore(Kind kind, String name, int slots) throws Exception {
    throw new IllegalArgumentException("It has no slots: " + kind);
  }

  /**
   * A semaphore of its own size.
   *
   * @param lock one slot of it
   * @param end removes it, where it would stay
   */
  record Semaphore(PeerLock lock, AutoCloseable end) {}

  /** Closes the connections. */
  @Override
  void close() throws Exception;
}
