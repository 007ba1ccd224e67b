package io.amqplocks.benchmarks.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server as a private process in a folder of its own. A small shell runs it and waits for the end
 * of its own standard input, which comes with {@link #close()} and with the end of this JVM,
 * however that ends; then it ends the server and deletes the folder.
 */
final class ServerProcess implements AutoCloseable {

  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration END = Duration.ofSeconds(15);
  private static final int LAST_LINES = 15;

  private final Process keeper;
  private final Path folder;

  private ServerProcess(Process keeper, Path folder) {
    this.keeper = keeper;
    this.folder = folder;
  }

  /** A new folder for a server that is to be started. */
  static Folder folder(String server) throws IOException {
    return new Folder(Files.createTempDirectory("amqp-locks-" + server + "-"));
  }

  /**
   * Where a server will keep its files.
   *
   * @param path of it
   */
  record Folder(Path path) {

    /**
     * Starts the server.
     *
     * @param signal what ends it at once, without waiting for clients
     */
    ServerProcess start(String signal, List<String> command) throws IOException {
      List<String> all = new ArrayList<>();
      all.addAll(List.of("sh", "-c", keeperScript(), "keeper", signal, path.toString()));
      all.addAll(command);
      return new ServerProcess(new ProcessBuilder(all).start(), path);
    }
  }

  private static String keeperScript() throws IOException {
    try (InputStream script = ServerProcess.class.getResourceAsStream("keeper.sh")) {
      return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Returns when the server listens there; closes it if that does not come to pass. */
  void awaitPort(int port) throws InterruptedException {
    await(
        () -> {
          try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(LOOPBACK, port), 1_000);
          }
        });
  }

  /**
   * Returns when this succeeds; closes the server if it ends before, or takes too long.
   *
   * @throws IllegalStateException with the end of its log
   */
  void await(Attempt attempt) throws InterruptedException {
    long end = System.nanoTime() + START.toNanos();
    while (true) {
      try {
        attempt.run();
        return;
      } catch (Exception notYet) {
        if (hasEnded() || end - System.nanoTime() < 0) {
          String log = log();
          close();
          throw new IllegalStateException("The server did not start\n" + log, notYet);
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    }
  }

  /** Whether it ended by itself. */
  private boolean hasEnded() {
    return Files.exists(folder.resolve("ended")) || !keeper.isAlive();
  }

  private String log() {
    try {
      List<String> lines = Files.readAllLines(folder.resolve("log"));
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    } catch (IOException none) {
      return "It has no log";
    }
  }

  /** The server's process and those that it started. */
  Stream<ProcessHandle> processes() {
    return keeper.descendants();
  }

  /** Ends the server, and deletes its folder. */
  @Override
  public void close() {
    List<ProcessHandle> processes = processes().toList();
    try {
      keeper.getOutputStream().close();
      if (!keeper.waitFor(END.toMillis(), TimeUnit.MILLISECONDS)) {
        processes.forEach(ProcessHandle::destroyForcibly);
        boolean unused = keeper.waitFor(END.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException interrupted) {
      processes.forEach(ProcessHandle::destroyForcibly);
      Thread.currentThread().interrupt();
    }
  }

  /** Something that fails as long as the server is not ready. */
  @FunctionalInterface
  interface Attempt {
    void run() throws Exception;
  }
}
