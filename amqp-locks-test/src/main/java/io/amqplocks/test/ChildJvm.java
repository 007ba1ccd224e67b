package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A Java program in a process of its own, with this JVM's Java and class path, to be killed or
 * frozen by a test, and talked with by lines on its standard input and output.
 *
 * <pre>{@code
 * try (ChildJvm child = ChildJvm.of(Holder.class).args(broker.uri()).start()) {
 *   child.awaitLine("held", Duration.ofSeconds(10));
 *   child.killNow();
 * }
 * }</pre>
 *
 * <p>The process is ended by {@link #close()}, or with this JVM, however that ends. What it writes
 * to standard error is kept for messages of exceptions.
 */
public final class ChildJvm implements AutoCloseable {

  private static final Duration END = Duration.ofSeconds(30);

  /** A process that a child started may keep the child's output open: it is not waited for. */
  private static final Duration LAST_LINES = Duration.ofSeconds(15);

  private final Process process;
  private final Writer input;
  private final LineLog output = new LineLog();
  private final LineLog errors = new LineLog();
  private final Thread atExit;
  private final ReentrantLock stopping = new ReentrantLock();
  private @Nullable Keeper keeper;

  /** Describes a program; nothing is started yet. */
  public static ChildJvmBuilder of(Class<?> mainClass) {
    return new ChildJvmBuilder(mainClass);
  }

  ChildJvm(Process process) {
    this.process = process;
    this.input = process.outputWriter(StandardCharsets.UTF_8);
    this.atExit = new Thread(process::destroyForcibly, "child-jvm-close");
    Runtime.getRuntime().addShutdownHook(atExit);
    output.readFrom(process.inputReader(StandardCharsets.UTF_8), "child-jvm-output");
    errors.readFrom(process.errorReader(StandardCharsets.UTF_8), "child-jvm-errors");
  }

  /** The process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process runs; a stopped one does. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /**
   * The lines that the program has written to its standard output so far; of those that {@link
   * #awaitLine} has passed at least the last 1,000.
   */
  public List<String> lines() {
    return output.lines();
  }

  /** All lines that the program has written to its standard error so far. */
  public List<String> errorLines() {
    return errors.lines();
  }

  /**
   * Waits for a line that begins with this text; see {@link #awaitLine(Predicate, Duration)}.
   */
  public String awaitLine(String prefix, Duration timeout) {
    return awaitLine(line -> line.startsWith(prefix), timeout);
  }

  /**
   * Waits for a line of the program's standard output and returns it. Lines that an earlier call
   * has passed are not looked at again, so that successive calls find successive lines.
   *
   * @throws IllegalStateException if no such line came in time, or the program ended before; the
   *     message has all that it wrote
   */
  public String awaitLine(Predicate<String> wanted, Duration timeout) {
    return output
        .await(wanted, timeout)
        .orElseThrow(() -> new IllegalStateException("The line did not come\n" + report()));
  }

  /**
   * Writes a line to the program's standard input.
   *
   * @throws UncheckedIOException if the program has ended
   */
  public void send(String line) {
    try {
      input.write(line + "\n");
      input.flush();
    } catch (IOException gone) {
      throw new UncheckedIOException("Cannot write to the child\n" + report(), gone);
    }
  }

  /**
   * Ends the process as {@code kill -9} does, and returns when it is gone. All that it has written
   * is in {@link #lines()} then. An interrupt does not end the wait.
   */
  public void killNow() {
    // Process.destroyForcibly also closes our ends of the pipes, with what was not read yet.
    process.toHandle().destroyForcibly();
    if (exitCodeOfKilled().isEmpty()) {
      throw new IllegalStateException("Process " + pid() + " did not end within " + END);
    }
  }

  /** An interrupt does not end the wait: a killed process ends soon. */
  private OptionalInt exitCodeOfKilled() {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return awaitExit(END);
        } catch (InterruptedException again) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Stops the process in its tracks ({@code SIGSTOP}), as a long pause of the machine does. */
  public void stop() {
    keep();
    Signals.send(pid(), "STOP");
  }

  /** While stopped, the child cannot see the end of this JVM. */
  private void keep() {
    stopping.lock();
    try {
      if (keeper == null) {
        keeper = Keeper.ofChild(pid());
      }
    } finally {
      stopping.unlock();
    }
  }

  /** Lets a stopped process go on ({@code SIGCONT}). */
  public void cont() {
    Signals.send(pid(), "CONT");
  }

  /**
   * Waits for the end of the program, after which {@link #lines()} has its last line too; empty if
   * it still runs after that time.
   */
  public OptionalInt exitCode(Duration timeout) {
    try {
      return awaitExit(timeout);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while a child ran", interrupted);
    }
  }

  private OptionalInt awaitExit(Duration timeout) throws InterruptedException {
    if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
      return OptionalInt.empty();
    }
    if (output.awaitEnd(LAST_LINES)) {
      errors.awaitEnd(LAST_LINES);
    }
    return OptionalInt.of(process.exitValue());
  }

  /** Kills the process if it still runs. */
  @Override
  public void close() {
    try {
      killNow();
    } finally {
      dismissKeeper();
      forgetAtExit();
    }
  }

  private void forgetAtExit() {
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException exiting) {
      // The hook finds nothing to do.
    }
  }

  private void dismissKeeper() {
    stopping.lock();
    try {
      if (keeper != null) {
        keeper.childEnded();
      }
    } finally {
      stopping.unlock();
    }
  }

  /** After its end with its last words, which tell why it ended. */
  private String report() {
    try {
      if (!isAlive() || output.awaitEnd(Duration.ZERO)) {
        errors.awaitEnd(LAST_LINES);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return "Output:\n%s\nErrors:\n%s"
        .formatted(String.join("\n", lines()), String.join("\n", errorLines()));
  }
}
