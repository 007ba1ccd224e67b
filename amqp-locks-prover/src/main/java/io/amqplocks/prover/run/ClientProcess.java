package io.amqplocks.prover.run;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Lines;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.test.Signals;
import io.amqplocks.test.TcpProxy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client of the locks that follows the line protocol, in whatever language, behind a proxy of its
 * own.
 *
 * <p>Concurrency: commands may be sent by any thread. One thread reads the events.
 */
final class ClientProcess implements AutoCloseable {

  /** The fault by which it ends. */
  static final String KILLED = "kill -9";

  private final String name;
  private final History history;
  private final TcpProxy proxy;
  private final Process process;
  private final Writer input;
  private final Thread reader;
  private final Thread atExit;
  private final AtomicLong ids = new AtomicLong();
  private final Map<Long, CompletableFuture<Event>> open = new ConcurrentHashMap<>();
  private volatile boolean ended;
  private volatile boolean killed;

  /**
   * Starts a client.
   *
   * @param name its name in the history
   * @param program the command line of the client
   * @param errors where its standard error goes
   */
  ClientProcess(String name, List<String> program, TcpProxy proxy, History history, Path errors) {
    this.name = name;
    this.history = history;
    this.proxy = proxy;
    try {
      process = new ProcessBuilder(program).redirectError(errors.toFile()).start();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot start " + program, e);
    }
    input = process.outputWriter(StandardCharsets.UTF_8);
    atExit = new Thread(this::end, "end-of-" + name);
    Runtime.getRuntime().addShutdownHook(atExit);
    reader = new Thread(this::read, "events-of-" + name);
    reader.setDaemon(true);
    reader.start();
  }

  String name() {
    return name;
  }

  TcpProxy proxy() {
    return proxy;
  }

  /** A number for a command. */
  long newId() {
    return ids.incrementAndGet();
  }

  /** Sends a command. The future has the event that ends it, and fails if the client ends first. */
  synchronized CompletableFuture<Event> send(Command command) {
    CompletableFuture<Event> outcome = new CompletableFuture<>();
    open.put(command.id(), outcome);
    history.told(name, command);
    try {
      input.write(Lines.write(command) + "\n");
      input.flush();
    } catch (IOException e) {
      outcome.completeExceptionally(e);
    }
    if (ended) {
      outcome.completeExceptionally(new IOException(name + " has ended"));
    }
    return outcome;
  }

  /**
   * Sends a command and waits for its end.
   *
   * @throws IllegalStateException if it fails, or does not end in time
   */
  void carryOut(Command command, Duration atMost) {
    try {
      Event outcome = send(command).get(atMost.toMillis(), TimeUnit.MILLISECONDS);
      if (outcome.what() != What.DONE) {
        throw new IllegalStateException(
            "%s could not carry out %s: %s".formatted(name, command, outcome.detail()));
      }
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException(name + " did not carry out " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for " + name, e);
    }
  }

  private void read() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Event event = Lines.read(line, Event.class);
        history.did(name, event);
        if (event.what().isEnd()) {
          CompletableFuture<Event> outcome = open.remove(event.id());
          if (outcome != null) {
            outcome.complete(event);
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      // A line that a kill cut short. What is not known is not counted.
      history.suffered(
          name, new FaultSpan("unreadable: " + e, System.nanoTime(), System.nanoTime()));
    } finally {
      ended = true;
      open.values()
          .forEach(each -> each.completeExceptionally(new IOException(name + " has ended")));
    }
  }

  boolean wasKilled() {
    return killed;
  }

  /** The program may be a script that has started the client. */
  private void end() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Ends it as {@code kill -9} does. Returns when all that it wrote has been read. */
  void kill() {
    long begin = System.nanoTime();
    killed = true;
    end();
    awaitEnd();
    history.suffered(name, new FaultSpan(KILLED, begin, System.nanoTime()));
  }

  private void awaitEnd() {
    try {
      boolean unused = process.waitFor(30, TimeUnit.SECONDS);
      reader.join(Duration.ofSeconds(30).toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops it in its tracks. */
  void stop() {
    Signals.send(process.pid(), "STOP");
  }

  /** Lets it go on. */
  void cont() {
    Signals.send(process.pid(), "CONT");
  }

  /** Returns when all that it wrote has been read: nothing is added to a history that is judged. */
  @Override
  public void close() {
    end();
    awaitEnd();
    proxy.close();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException exiting) {
      // The hook finds nothing to do.
    }
  }
}
