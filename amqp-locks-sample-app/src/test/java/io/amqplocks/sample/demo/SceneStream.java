package io.amqplocks.sample.demo;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * The scenes as server-sent events. Each watcher has a thread of its own, which sends the latest
 * scene as soon as it has sent the one before: a slow watcher misses scenes, and delays nobody.
 */
final class SceneStream {

  private static final int WATCHERS = 16;

  /** By then the last scene has been sent to whoever reads. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(5);

  /** A scene and its number, or at the end the result. */
  private record Next(int number, @Nullable Scene scene, @Nullable String result) {}

  private final JsonMapper json = JsonMapper.builder().build();
  private final AtomicInteger watchers = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable Scene latest;
  private int published;
  private @Nullable String result;

  /** There is a new one. */
  void publish(Scene scene) {
    lock.lock();
    try {
      latest = scene;
      published++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** There will be no more; returns when all watchers know that, and what came out of it. */
  void end(String outcome) {
    long due = System.nanoTime() + LAST_WORDS.toNanos();
    lock.lock();
    try {
      result = outcome;
      changed.signalAll();
      while (watchers.get() > 0 && System.nanoTime() - due < 0) {
        changed.awaitNanos(due - System.nanoTime());
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  /** Sends them until the end, or until the watcher goes. */
  void send(HttpExchange exchange) throws IOException {
    try {
      if (watchers.incrementAndGet() > WATCHERS) {
        exchange.sendResponseHeaders(503, -1);
        return;
      }
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
      exchange.sendResponseHeaders(200, 0);
      OutputStream body = exchange.getResponseBody();
      // After which a browser connects again, in milliseconds.
      write(body, "retry: 1000\n\n");
      Next next = after(0);
      while (next.scene() != null) {
        write(body, "data: " + json.writeValueAsString(next.scene()) + "\n\n");
        next = after(next.number());
      }
      write(body, "event: end\ndata: " + json.writeValueAsString(next.result()) + "\n\n");
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
    } finally {
      left();
    }
  }

  private void left() {
    lock.lock();
    try {
      watchers.decrementAndGet();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for one that is newer than the one of that number, or for the end. */
  private Next after(int sent) throws InterruptedException {
    lock.lock();
    try {
      while (published == sent && result == null) {
        changed.await();
      }
      return new Next(published, published == sent ? null : latest, result);
    } finally {
      lock.unlock();
    }
  }

  private static void write(OutputStream body, String text) throws IOException {
    body.write(text.getBytes(StandardCharsets.UTF_8));
    body.flush();
  }
}
