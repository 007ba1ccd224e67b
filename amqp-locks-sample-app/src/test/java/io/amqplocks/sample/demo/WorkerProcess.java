package io.amqplocks.sample.demo;

import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import tools.jackson.databind.JsonNode;

/**
 * A worker in a process of its own. Its log is read to the {@link SlotBoard}; what the log does not
 * say, its endpoint is asked for twice a second.
 */
final class WorkerProcess implements AutoCloseable {

  private static final Duration START = Duration.ofMinutes(3);
  private static final Duration SILENCE = Duration.ofDays(1);
  private static final long ASK_MILLIS = 500;

  private final int number;
  private final ChildJvm jvm;
  private final @Nullable TcpProxy link;
  private final SlotBoard board;
  private final Thread reader = new Thread(this::read, "demo-worker-log");
  private final Thread asker = new Thread(this::ask, "demo-worker-report");
  private volatile boolean started;
  private volatile boolean ending;
  private volatile @Nullable WorkerReport report;
  private volatile String endpoint = "";

  /**
   * Starts it.
   *
   * @param link what its connections to the broker go through; null if they go there directly
   */
  WorkerProcess(int number, ChildJvmBuilder program, @Nullable TcpProxy link, SlotBoard board) {
    this.number = number;
    this.link = link;
    this.board = board;
    this.jvm = program.start();
    reader.setDaemon(true);
    asker.setDaemon(true);
  }

  int number() {
    return number;
  }

  long pid() {
    return jvm.pid();
  }

  /** Waits until it listens to the work queue. */
  void awaitStarted() {
    endpoint = ListeningPort.await(jvm, START) + "/actuator/amqplocks";
    jvm.awaitLine(line -> line.contains("Started SampleApplication"), START);
    started = true;
    reader.start();
    asker.start();
  }

  /** Whether it has begun to work. */
  boolean isStarted() {
    return started;
  }

  /** What it said last of its slots; null if it has not yet. */
  @Nullable WorkerReport report() {
    return report;
  }

  /** The end of what it wrote, to explain a failure. */
  String log() {
    List<String> lines = new ArrayList<>(jvm.lines());
    lines.addAll(jvm.errorLines());
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 40), lines.size()));
  }

  /** Whether it ended, and nobody ended it. */
  boolean hasEndedByItself() {
    // In this order, because whoever ends it says so first.
    return !jvm.isAlive() && !ending;
  }

  boolean isCuttable() {
    return link != null;
  }

  /** Breaks its connections to the broker. It may connect again. */
  void cut() {
    if (link == null) {
      throw new IllegalArgumentException("Connections with TLS cannot be cut here");
    }
    link.reset();
  }

  /** Ends it as {@code kill -9} does; returns when its log is read to the end. */
  void killNow() throws InterruptedException {
    ending = true;
    jvm.killNow();
    reader.join();
    if (link != null) {
      link.close();
    }
  }

  @Override
  public void close() {
    ending = true;
    jvm.close();
    if (link != null) {
      link.close();
    }
  }

  private void read() {
    try {
      while (true) {
        String line = jvm.awaitLine(any -> true, SILENCE);
        board.read(number, line, System.nanoTime());
      }
    } catch (IllegalStateException ended) {
      // No more lines; who wants to know why asks hasEndedByItself.
    }
  }

  private void ask() {
    RestClient client = RestClient.builder().requestFactory(Receiver.requests()).build();
    try {
      while (!ending && jvm.isAlive()) {
        long now = System.nanoTime();
        try {
          JsonNode answer = client.get().uri(endpoint).retrieve().body(JsonNode.class);
          if (answer != null) {
            WorkerReport read = WorkerReport.read(answer, now);
            board.read(number, read);
            report = read;
          }
        } catch (RestClientException silent) {
          // The last report gets old, which is shown.
        }
        TimeUnit.MILLISECONDS.sleep(ASK_MILLIS);
      }
    } catch (InterruptedException nobodyDoes) {
      Thread.currentThread().interrupt();
    }
  }
}
