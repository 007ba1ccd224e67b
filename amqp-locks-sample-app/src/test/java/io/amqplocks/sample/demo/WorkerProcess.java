package io.amqplocks.sample.demo;

import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A worker in a process of its own, whose log is read to the {@link SlotBoard}. */
final class WorkerProcess implements AutoCloseable {

  private static final Duration START = Duration.ofMinutes(3);
  private static final Duration SILENCE = Duration.ofDays(1);

  private final int number;
  private final ChildJvm jvm;
  private final SlotBoard board;
  private final Thread reader = new Thread(this::read, "demo-worker-log");

  WorkerProcess(int number, ChildJvmBuilder program, SlotBoard board) {
    this.number = number;
    this.board = board;
    this.jvm = program.start();
    reader.setDaemon(true);
  }

  int number() {
    return number;
  }

  /** Waits until it listens to the work queue. */
  void awaitStarted() {
    jvm.awaitLine(line -> line.contains("Started SampleApplication"), START);
    reader.start();
  }

  /** The end of what it wrote, to explain a failure. */
  String log() {
    List<String> lines = new ArrayList<>(jvm.lines());
    lines.addAll(jvm.errorLines());
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
  }

  boolean isAlive() {
    return jvm.isAlive();
  }

  /** Ends it as {@code kill -9} does; returns when its log is read to the end. */
  void killNow() throws InterruptedException {
    jvm.killNow();
    reader.join();
  }

  @Override
  public void close() {
    jvm.close();
  }

  private void read() {
    try {
      while (true) {
        String line = jvm.awaitLine(any -> true, SILENCE);
        board.read(number, line, System.nanoTime());
      }
    } catch (IllegalStateException ended) {
      // No more lines; who wants to know why asks isAlive.
    }
  }
}
