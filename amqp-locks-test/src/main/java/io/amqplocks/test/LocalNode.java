package io.amqplocks.test;

import java.io.IOException;
import java.time.Duration;
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
  private volatile boolean frozen;

  LocalNode(NodePlace place) {
    this.folder = NodeFolder.create(place);
    this.keeper = Keeper.ofBroker(folder);
  }

  @Override
  public boolean running() {
    Process server = process;
    return server != null && server.isAlive();
  }

  @Override
  public Optional<ProcessHandle> process() {
    return Optional.ofNullable(process).map(Process::toHandle).filter(ProcessHandle::isAlive);
  }

  @Override
  public void start() {
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

  private String failure(NodeAgent started) {
    return "RabbitMQ %s did not start.%nOutput:%n%s%nLog:%n%s"
        .formatted(
            folder.place().installation().version(), started.output(), folder.logTail(LOG_LINES));
  }

  @Override
  public String eval(String expressions) {
    NodeAgent asked = agent;
    if (asked == null || !running() || frozen) {
      throw new IllegalStateException("The broker is " + (frozen ? "frozen" : "not running"));
    }
    return asked.eval(expressions, ANSWER);
  }

  @Override
  public void stop() {
    thaw();
    if (running()) {
      eval("init:stop(), \"\".");
      awaitEnd();
    }
  }

  @Override
  public void kill() {
    Process server = process;
    if (server != null) {
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
    folder.noPid();
  }

  @Override
  public void freeze() {
    signal("STOP");
    frozen = true;
  }

  @Override
  public void thaw() {
    if (frozen) {
      signal("CONT");
      frozen = false;
    }
  }

  private void signal(String name) {
    Process server = process;
    if (server == null || !server.isAlive()) {
      throw new IllegalStateException("The broker is not running");
    }
    Signals.send(server.pid(), name);
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
