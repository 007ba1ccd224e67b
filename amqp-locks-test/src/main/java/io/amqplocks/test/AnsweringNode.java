package io.amqplocks.test;

import java.time.Duration;
import java.util.Optional;

/** A node that counts as started only when it accepts AMQP connections. */
record AnsweringNode(NodeControl node, Address address, Duration timeout) implements NodeControl {

  @Override
  public void start() {
    node.start();
    address.awaitVersion(timeout);
  }

  @Override
  public String eval(String expressions) {
    return node.eval(expressions);
  }

  @Override
  public boolean running() {
    return node.running();
  }

  @Override
  public Optional<ProcessHandle> process() {
    return node.process();
  }

  @Override
  public void kill() {
    node.kill();
  }

  @Override
  public void stop() {
    node.stop();
  }

  @Override
  public void freeze() {
    node.freeze();
  }

  @Override
  public void thaw() {
    node.thaw();
  }
}
