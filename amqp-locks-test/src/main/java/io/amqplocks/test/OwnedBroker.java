package io.amqplocks.test;

/**
 * A broker that belongs to whoever started it, by {@link Brokers#start()}. Closing it ends the
 * broker and deletes all its data; an external broker is merely let go. Closing again does nothing.
 * The end of the JVM closes it as well.
 */
public interface OwnedBroker extends Broker, AutoCloseable {

  @Override
  void close();
}
