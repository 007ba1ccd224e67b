package io.amqplocks.prover.driver;

import io.amqplocks.lock.LockException;
import io.amqplocks.prover.driver.Event.What;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The client of this project behind the line protocol: commands on standard input, events on
 * standard output, as {@code docs/PROVER.md} says. Each command has a thread of its own, so a
 * client can wait for one lock while it holds another. The process ends with its input.
 *
 * <p>What depends on the state of core is in {@link OpenedLocks}. {@code bin/prove --against} puts
 * another class in its place if the core of a commit is too old for this one.
 */
public final class Driver {

  private final PrintStream out;
  private @Nullable OpenedLocks locks;

  Driver(PrintStream out) {
    this.out = out;
  }

  /**
   * Reads commands until the input ends.
   *
   * @param args none
   */
  public static void main(String[] args) throws Exception {
    // Line by line, and in one piece: what was written stays after a kill.
    Driver driver =
        new Driver(
            new PrintStream(
                new java.io.FileOutputStream(java.io.FileDescriptor.out),
                false,
                StandardCharsets.UTF_8));
    ExecutorService threads = Executors.newCachedThreadPool();
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      driver.read(in, threads);
    } finally {
      threads.shutdownNow();
      driver.close();
    }
  }

  private void read(BufferedReader in, ExecutorService threads) throws IOException {
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Command command = Lines.read(line, Command.class);
      if (command.action() == Command.Action.CLOSE) {
        threads.shutdown();
        awaitEnd(threads);
        close();
        report(command, What.DONE, null);
        return;
      }
      threads.execute(() -> execute(command));
    }
  }

  private static void awaitEnd(ExecutorService threads) {
    try {
      boolean unused = threads.awaitTermination(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void execute(Command command) {
    try {
      switch (command.action()) {
        case OPEN -> open(command);
        case CREATE -> locks().create(required(command.lock(), "lock"), command.slots());
        case RESIZE -> locks().resize(required(command.lock(), "lock"), command.slots());
        case WORK -> locks().work(command, required(command.lock(), "lock"), this::write);
        case CLOSE -> throw new IllegalStateException("Not here");
      }
      report(command, What.DONE, null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (UnsupportedOperationException e) {
      report(command, What.UNSUPPORTED, e.toString());
    } catch (RuntimeException
        | Error
        | java.security.GeneralSecurityException
        | java.net.URISyntaxException e) {
      report(command, What.NOT_DONE, e.toString());
    }
  }

  private synchronized OpenedLocks locks() {
    OpenedLocks opened = locks;
    if (opened == null) {
      throw new IllegalStateException("The first command must be OPEN");
    }
    return opened;
  }

  private void open(Command command)
      throws java.security.GeneralSecurityException, java.net.URISyntaxException {
    OpenedLocks opened =
        OpenedLocks.open(
            required(command.uri(), "uri"),
            required(command.prefix(), "prefix"),
            command.heartbeat());
    synchronized (this) {
      locks = opened;
    }
  }

  private static <T> T required(@Nullable T value, String name) {
    if (value == null) {
      throw new IllegalArgumentException("The command needs the field '" + name + "'");
    }
    return value;
  }

  private void report(Command command, What what, @Nullable String detail) {
    write(new Event(command.id(), 0, what, 0, System.nanoTime(), 0, 0, detail));
  }

  private synchronized void write(Event event) {
    out.print(Lines.write(event) + "\n");
    out.flush();
  }

  private void close() {
    OpenedLocks opened;
    synchronized (this) {
      opened = locks;
    }
    if (opened != null) {
      try {
        opened.close();
      } catch (LockException e) {
        System.err.println("Closing: " + e);
      }
    }
  }
}
