package io.amqplocks.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The small process that cleans up after a private broker, also when the JVM was killed, and that
 * runs its {@code epmd}: one that the server starts by itself would outlive it.
 */
final class NodeKeeper {

  private static final long CLEAN_UP_SECONDS = 10;

  private final Process process;

  private NodeKeeper(Process process) {
    this.process = process;
  }

  static NodeKeeper start(NodeFolder folder) {
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of("sh", "-c", Resources.text("process.sh") + Resources.text("keeper.sh"), "keeper"));
    command.add(folder.path().toString());
    command.addAll(folder.epmdCommand());
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
      if (!"ready".equals(output.readLine())) {
        throw new IllegalStateException("No shell to run the broker's keeper with");
      }
      return new NodeKeeper(process);
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot start the broker's keeper", failed);
    }
  }

  /** Deletes the folder and ends {@code epmd}; returns when it is done. */
  void finish() {
    try {
      process.outputWriter(StandardCharsets.UTF_8).close();
      process.waitFor(CLEAN_UP_SECONDS, TimeUnit.SECONDS);
    } catch (IOException gone) {
      // Nothing left to tell.
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
