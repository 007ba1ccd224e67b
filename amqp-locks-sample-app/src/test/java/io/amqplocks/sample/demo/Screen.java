package io.amqplocks.sample.demo;

import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Prints lines to keep, and progress: one updating line on a terminal, else a line now and then.
 */
final class Screen {

  private static final String CLEAR_LINE = "\r\u001b[K";
  private static final long NOW_AND_THEN = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock = new ReentrantLock();
  private final PrintStream out;
  private final boolean terminal;
  private String progress = "";
  private long printed = System.nanoTime();
  private boolean ended;

  Screen(PrintStream out, boolean terminal) {
    this.out = out;
    this.terminal = terminal;
  }

  /** Prints a line that stays. */
  void say(String line) {
    print(
        () -> {
          out.println(terminal ? CLEAR_LINE + line : line);
          if (terminal) {
            out.print(progress);
          }
        });
  }

  /** Shows how far it is. */
  void progress(String line) {
    print(
        () -> {
          if (terminal) {
            progress = line;
            out.print(CLEAR_LINE + line);
          } else if (System.nanoTime() - printed > NOW_AND_THEN && !line.equals(progress)) {
            progress = line;
            printed = System.nanoTime();
            out.println(line);
          }
        });
  }

  /** No more progress; whatever else comes later is dropped. */
  void end() {
    print(
        () -> {
          out.print(terminal ? CLEAR_LINE : "");
          ended = true;
        });
  }

  private void print(Runnable what) {
    lock.lock();
    try {
      if (!ended) {
        what.run();
        out.flush();
      }
    } finally {
      lock.unlock();
    }
  }
}
