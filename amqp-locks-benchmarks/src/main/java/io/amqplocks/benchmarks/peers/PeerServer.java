package io.amqplocks.benchmarks.peers;

import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A server that was started here.
 *
 * @param version its name and version
 * @param address what a client needs to connect
 * @param processes those that it has now; none if it does not run as a process of this machine
 * @param end ends it, and deletes what it stored
 */
record PeerServer(
    String version, String address, Supplier<Stream<ProcessHandle>> processes, AutoCloseable end)
    implements AutoCloseable {

  PeerServer(String version, String address, ServerProcess process) {
    this(version, address, process::processes, process);
  }

  /** How long each of its processes has been on a processor. */
  CpuTimes cpu() {
    return CpuTimes.of(processes.get());
  }

  @Override
  public void close() throws Exception {
    end.close();
  }
}
