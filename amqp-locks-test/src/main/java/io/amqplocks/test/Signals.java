package io.amqplocks.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Sends signals to processes that were started here; Java itself knows only two of them. */
public final class Signals {

  private Signals() {}

  /**
   * Returns when the signal is sent; if it stops the process, when each of its threads has stopped,
   * which on a busy machine is later: one of them could still answer a client.
   *
   * @param name without {@code SIG}
   */
  public static void send(long pid, String name) {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
      if (exitCode(kill) != 0) {
        throw new IllegalStateException("Cannot send SIG" + name + " to process " + pid);
      }
      if (name.equals("STOP")) {
        awaitStop(Path.of("/proc", Long.toString(pid), "task"));
      }
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot run kill", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while sending SIG" + name, interrupted);
    }
  }

  /** Whoever is interrupted may send another signal at once, which must not overtake this one. */
  private static int exitCode(Process kill) throws InterruptedException {
    try {
      return kill.waitFor();
    } catch (InterruptedException interrupted) {
      kill.onExit().join();
      throw interrupted;
    }
  }

  /** Where there is no /proc, as on macOS, it must do to have sent the signal. */
  private static void awaitStop(Path threads) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    while (System.nanoTime() < end && isAnyRunning(threads)) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  private static boolean isAnyRunning(Path threads) {
    try (Stream<Path> all = Files.list(threads)) {
      return all.anyMatch(thread -> !state(thread.resolve("stat")).startsWith("T"));
    } catch (IOException gone) {
      return false;
    }
  }

  /**
   * The letter behind the program's name, which is in parentheses; T for a thread that has ended.
   */
  private static String state(Path stat) {
    try {
      String line = Files.readString(stat);
      return line.substring(line.lastIndexOf(')') + 1).strip();
    } catch (IOException gone) {
      return "T";
    }
  }
}
