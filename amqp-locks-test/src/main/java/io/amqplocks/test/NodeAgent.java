package io.amqplocks.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The JVM's end of the talk with {@code agent.erl.script}, over the server's own stdin and stdout.
 */
final class NodeAgent {

  private static final String MARK = "amqp-locks ";
  private static final int TAIL = 60;
  private static final Duration SETTLED = Duration.ofSeconds(5);

  private final Writer input;
  private final ReentrantLock writing = new ReentrantLock();
  private final AtomicLong ids = new AtomicLong();
  private final Map<String, CompletableFuture<String>> answers = new ConcurrentHashMap<>();
  private final CompletableFuture<String> ready = new CompletableFuture<>();
  private final ReentrantLock tailLock = new ReentrantLock();
  private final Deque<String> tail = new ArrayDeque<>();

  NodeAgent(Process server) {
    this.input = server.outputWriter(StandardCharsets.UTF_8);
    answers.put("0", ready);
    Thread reader =
        new Thread(() -> read(server.inputReader(StandardCharsets.UTF_8)), "broker-agent");
    reader.setDaemon(true);
    reader.start();
  }

  /** Waits until the server has booted. */
  void awaitReady(Duration timeout) {
    await(ready, timeout, "boot");
  }

  String eval(String expressions, Duration timeout) {
    String id = Long.toString(ids.incrementAndGet());
    CompletableFuture<String> answer = new CompletableFuture<>();
    answers.put(id, answer);
    try {
      send(id + " " + Erlang.base64(expressions) + "\n");
      return await(answer, timeout, expressions);
    } finally {
      if (Thread.currentThread().isInterrupted()) {
        settle(answer);
      }
      answers.remove(id);
    }
  }

  /**
   * Waits a moment for what an interrupted caller does not wait for: the server does what it is
   * asked at the same time, and what undoes this must not overtake it.
   */
  private static void settle(CompletableFuture<String> answer) {
    answer
        .copy()
        .completeOnTimeout("", SETTLED.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(failed -> "")
        .join();
  }

  /** The last lines that the server printed itself. */
  String output() {
    tailLock.lock();
    try {
      return String.join("\n", tail);
    } finally {
      tailLock.unlock();
    }
  }

  private void send(String line) {
    writing.lock();
    try {
      input.write(line);
      input.flush();
    } catch (IOException gone) {
      throw new IllegalStateException("The broker is not running", gone);
    } finally {
      writing.unlock();
    }
  }

  private static String await(CompletableFuture<String> answer, Duration timeout, String what) {
    try {
      return answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new IllegalStateException("No answer within " + timeout + " to: " + what, late);
    } catch (ExecutionException failed) {
      Throwable cause = Objects.requireNonNullElse(failed.getCause(), failed);
      throw new IllegalStateException(cause.getMessage() + " on: " + what, failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while waiting for the broker", interrupted);
    }
  }

  private void read(BufferedReader output) {
    try (output) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        take(line);
      }
    } catch (IOException closed) {
      // The same as its end.
    }
    IllegalStateException gone = new IllegalStateException("The broker ended");
    answers.values().forEach(answer -> answer.completeExceptionally(gone));
  }

  private void take(String line) {
    String[] words = line.startsWith(MARK) ? line.split(" ") : new String[0];
    if (words.length < 3) {
      keep(line);
      return;
    }
    CompletableFuture<String> answer = answers.get(words[2]);
    String text = words.length == 3 ? "" : Erlang.text(words[3]);
    if (answer != null && words[1].equals("ok")) {
      answer.complete(text);
    } else if (answer != null) {
      answer.completeExceptionally(new IllegalStateException("The broker answered " + text));
    }
  }

  private void keep(String line) {
    tailLock.lock();
    try {
      tail.addLast(line);
      if (tail.size() > TAIL) {
        tail.removeFirst();
      }
    } finally {
      tailLock.unlock();
    }
  }
}
