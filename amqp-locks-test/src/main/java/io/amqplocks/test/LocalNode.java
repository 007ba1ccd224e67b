package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A broker as a private child process of this JVM, in a folder of its own. */
final class LocalNode implements NodeControl, AutoCloseable {

  private static final Duration BOOT = Duration.ofMinutes(2);
  private static final Duration ANSWER = Duration.ofMinutes(1);
  private static final int LOG_LINES = 40;

  private final NodeFolder folder;
  private final Keeper keeper;
  private volatile @Nullable Process process;
  private volatile @Nullable NodeAgent agent;

  /** Noted before it is so: what an interrupted caller has begun is undone too. */
  private volatile boolean frozen;

  /** Until its end was seen, which an interrupted caller does not wait for. */
  private volatile boolean ending;

  LocalNode(NodePlace place) {
    this.folder = NodeFolder.create(place);
    this.keeper = Keeper.ofBroker(folder);
  }

  /** Where what belongs to this broker may be put; it is deleted with the broker. */
  Path folder() {
    return folder.path();
  }

  /** Adds lines to {@code rabbitmq.conf}, for the next start. */
  void configure(String lines) {
    try {
      Files.writeString(folder.path().resolve("rabbitmq.conf"), lines, StandardOpenOption.APPEND);
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot configure a broker", failed);
    }
  }

  @Override
  public boolean running() {
    Process server = process;
    return server != null && server.isAlive() && !ending;
  }

  @Override
  public Optional<ProcessHandle> process() {
    return Optional.ofNullable(process).map(Process::toHandle).filter(ProcessHandle::isAlive);
  }

  @Override
  public void start() {
    if (ending) {
      kill(); // The old one may still have its port.
    }
    frozen = false;
    try {
      Process server = folder.server().start();
      process = server;
      folder.pid(server.pid());
      NodeAgent started = new NodeAgent(server);
      agent = started;
      try {
        started.awaitReady(BOOT);
      } catch (IllegalStateException failed) {
        kill();
        throw new IllegalStateException(failure(started), failed);
      }
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot run " + folder.server().command(), failed);
    }
  }

  /** What the server has logged, since the first start. */
  List<String> log() {
    return folder.log();
  }

  private String failure(NodeAgent started) {
    return "RabbitMQ %s did not start.%nOutput:%n%s%nLog:%n%s"
        .formatted(
            folder.place().installation().version(), started.output(), folder.logTail(LOG_LINES));
  }

  @Override
  public String eval(String expressions) {
    NodeAgent asked = agent;
    if (asked == null || !running() || frozen) {
      throw new IllegalStateException("The broker is " + (running() ? "frozen" : "not running"));
    }
    return asked.eval(expressions, ANSWER);
  }

  @Override
  public void stop() {
    thaw();
    if (running()) {
      try {
        eval("init:stop(), \"\".");
      } finally {
        ending = true;
      }
      awaitEnd();
    }
  }

  @Override
  public void kill() {
    Process server = process;
    if (server != null) {
      ending = true;
      server.destroyForcibly();
      awaitEnd();
    }
  }

  private void awaitEnd() {
    Process server = process;
    try {
      if (server != null && !server.waitFor(ANSWER.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("The broker did not end within " + ANSWER);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while a broker ended", interrupted);
    }
    frozen = false;
    ending = false;
    folder.noPid();
  }

  @Override
  public void freeze() {
    Process server = process;
    if (server == null || !running()) {
      throw new IllegalStateException("The broker is not running");
    }
    frozen = true;
    Signals.send(server.pid(), "STOP");
  }

  @Override
  public void thaw() {
    Process server = process;
    if (server != null && running() && frozen) {
      Signals.send(server.pid(), "CONT");
      frozen = false;
    }
  }

  @Override
  public void close() {
    Process server = process;
    if (server != null) {
      server.destroyForcibly();
    }
    keeper.finish();
  }
}
