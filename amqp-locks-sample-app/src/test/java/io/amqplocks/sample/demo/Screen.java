package io.amqplocks.sample.demo;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Prints lines to keep, and progress: on a terminal a picture below them that is drawn again and
 * again in its place, else a line now and then.
 */
final class Screen {

  private static final String CLEAR_TO_END = "\u001b[J";

  private static final String CLEAR_TO_END_OF_LINE = "\u001b[K";

  /** A line that the terminal had to wrap would be two, and the picture would climb. */
  private static final String DO_NOT_WRAP = "\u001b[?7l";

  private static final String WRAP = "\u001b[?7h";

  private static final long NOW_AND_THEN = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock = new ReentrantLock();
  private final PrintStream out;
  private final int rows;
  private List<String> picture = List.of();
  private String progress = "";
  private long printed = System.nanoTime();
  private boolean ended;

  /**
   * Prints there.
   *
   * @param rows how many lines the terminal has; 0 if it is none
   */
  Screen(PrintStream out, int rows) {
    this.out = out;
    this.rows = rows;
  }

  /** Prints a line that stays. */
  void say(String line) {
    print(
        () -> {
          if (rows > 0) {
            out.print(start() + CLEAR_TO_END);
          }
          out.println(line);
          draw();
        });
  }

  /** Shows how far it is. */
  void progress(String line) {
    progress(List.of(), line);
  }

  /** Shows how far it is: by these lines and that one on a terminal, else by that one only. */
  void progress(List<String> lines, String line) {
    print(
        () -> {
          if (rows > 0) {
            out.print(start());
            // The cursor could not get back to a line that has left the screen.
            picture = lines.size() < rows - 1 ? append(lines, line) : List.of(line);
            draw();
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
          out.print(rows > 0 ? start() + CLEAR_TO_END : "");
          ended = true;
        });
  }

  private static List<String> append(List<String> lines, String line) {
    return Stream.concat(lines.stream(), Stream.of(line)).toList();
  }

  /** Moves to the start of the picture; the cursor is always left at the end of its last line. */
  private String start() {
    return picture.size() < 2 ? "\r" : "\r\u001b[%dA".formatted(picture.size() - 1);
  }

  /** Line by line over what is there, because a picture that is cleared first would flicker. */
  private void draw() {
    if (!picture.isEmpty()) {
      String lines = String.join(CLEAR_TO_END_OF_LINE + "\n", picture);
      out.print(DO_NOT_WRAP + lines + CLEAR_TO_END + WRAP);
    }
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
