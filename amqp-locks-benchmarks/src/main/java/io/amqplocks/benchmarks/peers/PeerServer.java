package io.amqplocks.benchmarks.peers;

/**
 * A server that was started here.
 *
 * @param version its name and version
 * @param address what a client needs to connect
 * @param end ends it, and deletes what it stored
 */
record PeerServer(String version, String address, AutoCloseable end) implements AutoCloseable {

  @Override
  public void close() throws Exception {
    end.close();
  }
}
