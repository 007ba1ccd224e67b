package io.amqplocks.test;

/**
 * A broker in the hands of one test class.
 *
 * @param broker the broker
 * @param giveBack undoes the faults that the class left, and lets others have what is theirs
 */
record LentBroker(Broker broker, Runnable giveBack) implements AutoCloseable {

  @Override
  public void close() {
    giveBack.run();
  }
}
