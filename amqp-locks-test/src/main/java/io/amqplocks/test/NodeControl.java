package io.amqplocks.test;

import java.util.Optional;

/** The few things that depend on where a broker runs; {@link NodeFaults} makes the rest of them. */
interface NodeControl {

  /** Evaluates Erlang expressions, ended by a full stop, whose value is iodata, in the server. */
  String eval(String expressions);

  boolean running();

  /** The server's process, if it is a child of this JVM and runs. */
  default Optional<ProcessHandle> process() {
    return Optional.empty();
  }

  void kill();

  void start();

  void stop();

  void freeze();

  void thaw();
}
