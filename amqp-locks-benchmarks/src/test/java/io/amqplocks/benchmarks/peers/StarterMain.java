package io.amqplocks.benchmarks.peers;

import java.util.List;

/** A process that starts a server, says in which folder, and is killed. */
final class StarterMain {

  private StarterMain() {}

  /**
   * Runs it.
   *
   * @param args none
   */
  public static void main(String[] args) throws Exception {
    ServerProcess.Folder folder = ServerProcess.folder("test");
    ServerProcess server = folder.start("TERM", List.of("sleep", "100"));
    // The shell that keeps it, the server, and the one that waits for the end.
    server.await(
        () -> {
          if (server.processes().count() < 2) {
            throw new IllegalStateException("not yet");
          }
        });
    System.out.println("folder " + folder.path());
    Thread.sleep(Long.MAX_VALUE);
  }
}
