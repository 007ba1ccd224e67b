package io.amqplocks.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A small process that cleans up after another one, also when this JVM was killed. */
final class Keeper {

  private static final long CLEAN_UP_SECONDS = 10;

  private final Process process;

  private Keeper(Process process) {
    this.process = process;
  }

  /**
   * Of a private broker. It also runs the broker's {@code epmd}: one that the server starts by
   * itself would outlive it.
   */
  static Keeper ofBroker(NodeFolder folder) {
    List<String> arguments = new ArrayList<>();
    arguments.add(folder.path().toString());
    arguments.addAll(folder.epmdCommand());
    return start("keeper.sh", arguments);
  }

  /** Of a process that is to be killed when this JVM ends, even if it is stopped then. */
  static Keeper ofChild(long pid) {
    return start("child.sh", List.of(Long.toString(pid), ProcessStart.of(pid)));
  }

  private static Keeper start(String script, List<String> arguments) {
    String text = Resources.text("process.sh") + Resources.text(script);
    List<String> command = new ArrayList<>(List.of("sh", "-c", text, "keeper"));
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
      if (!"ready".equals(output.readLine())) {
        throw new IllegalStateException("No shell to run " + script + " with");
      }
      return new Keeper(process);
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot run " + script, failed);
    }
  }

  /** Ends what it keeps and deletes what that leaves behind; returns when it is done. */
  void finish() {
    close("");
  }

  /** Tells the keeper of a child that the child has ended; returns when the keeper has, too. */
  void childEnded() {
    close("ended\n");
  }

  private void close(String lastWords) {
    try (Writer input = process.outputWriter(StandardCharsets.UTF_8)) {
      input.write(lastWords);
    } catch (IOException gone) {
      // Nothing left to tell.
    }
    try {
      process.waitFor(CLEAN_UP_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
