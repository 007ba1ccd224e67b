package io.amqplocks.test;

import java.io.IOException;

/** Sends signals to processes that were started here; Java itself knows only two of them. */
final class Signals {

  private Signals() {}

  /**
   * Returns when the signal is sent.
   *
   * @param name without {@code SIG}
   */
  static void send(long pid, String name) {
    try {
      Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start();
      if (kill.waitFor() != 0) {
        throw new IllegalStateException("Cannot send SIG" + name + " to process " + pid);
      }
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot run kill", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while sending SIG" + name, interrupted);
    }
  }
}
