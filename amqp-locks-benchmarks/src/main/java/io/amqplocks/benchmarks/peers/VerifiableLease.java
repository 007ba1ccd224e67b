package io.amqplocks.benchmarks.peers;

import java.util.concurrent.Callable;

/**
 * What an acquire returned, of a system that can be asked about it.
 *
 * @param question whether it is still held, as the server says
 * @param end releases it
 */
record VerifiableLease(Callable<Boolean> question, AutoCloseable end) implements AutoCloseable {

  boolean isHeld() throws Exception {
    return question.call();
  }

  @Override
  public void close() throws Exception {
    end.close();
  }
}
