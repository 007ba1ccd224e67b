package io.amqplocks.test;

import java.util.Optional;

/**
 * A broker that belongs to whoever started it, by {@link Brokers#start()}. Closing it ends the
 * broker and deletes all its data; an external broker is merely let go. Closing again does nothing.
 * The end of the JVM closes it as well.
 */
public interface OwnedBroker extends Broker, AutoCloseable {

  /**
   * The server's process, if it is a child of this JVM, so that the operating system can be asked
   * what it uses. Empty while it does not run, and for a broker of another place: in Docker, in
   * this JVM, or external. A restart gives it another process.
   */
  default Optional<ProcessHandle> process() {
    return Optional.empty();
  }

  @Override
  void close();
}
