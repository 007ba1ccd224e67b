package io.amqplocks.sample.readme;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.lock.FencingToken;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.SubstituteLoggingEvent;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.SubstituteLogger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The application that the snippets speak of: what they call, and what they are called by. */
public final class ImageShop {

  private ImageShop() {}

  public record Image(String name) {}

  public record Receipt(String from) {}

  public record Order(String id) {}

  public record Invoice(Order order) {}

  /** Stores at once, until told to wait. */
  public static final class Server {

    private final AtomicInteger inside = new AtomicInteger();
    private final List<Image> stored = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch open = new CountDownLatch(0);

    public Receipt store(Image image) {
      inside.incrementAndGet();
      try {
        if (!open.await(1, TimeUnit.MINUTES)) {
          throw new IllegalStateException("nobody opened");
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        inside.decrementAndGet();
      }
      stored.add(image);
      return new Receipt("server");
    }

    public void cancel(Image image) {
      stored.remove(image);
    }

    /** Whoever stores an image now waits until the latch that is returned is counted down. */
    CountDownLatch shut() {
      open = new CountDownLatch(1);
      return open;
    }

    int inside() {
      return inside.get();
    }

    List<Image> stored() {
      return stored;
    }
  }

  public static final class Backlog {
    public Receipt add(Image image) {
      return new Receipt("backlog");
    }
  }

  /** Bills that are made when the test says so. */
  public static final class Bills {

    final Sinks.One<Invoice> made = Sinks.one();

    public Mono<Invoice> of(Order order) {
      return made.asMono();
    }
  }

  public static final class Table {

    private final List<Long> written = new CopyOnWriteArrayList<>();
    private final AtomicInteger migrations = new AtomicInteger();
    private final AtomicInteger removals = new AtomicInteger();
    private final AtomicInteger taken = new AtomicInteger();

    public void write(long token) {
      written.add(token);
    }

    public List<Long> written() {
      return written;
    }

    public void migrate() {
      migrations.incrementAndGet();
    }

    public void take(String item, int number) {
      taken.addAndGet(number);
    }

    int taken() {
      return taken.get();
    }

    public void removeOld() {
      removals.incrementAndGet();
    }

    int migrations() {
      return migrations.get();
    }

    int removals() {
      return removals.get();
    }
  }

  /** Has the snippets' methods, so that the test can call them. */
  public interface Guarded {
    void upload(Image image);

    Receipt accept(Image image);

    Mono<Invoice> invoice(Order order);

    void report(@Nullable FencingToken token);
  }

  /** What is logged by a snippet, for the test to read. */
  public static final class Log {

    private final Queue<SubstituteLoggingEvent> events = new LinkedBlockingQueue<>();

    /** A logger that only records. */
    Logger logger() {
      return new SubstituteLogger("shop", events, false);
    }

    List<String> lines() {
      return events.stream()
          .map(
              event ->
                  MessageFormatter.basicArrayFormat(event.getMessage(), event.getArgumentArray()))
          .toList();
    }
  }

  /** Has the methods of the page about Spring. */
  public interface Shop {
    Receipt process(Image image);

    void uploadAll(List<Image> images);

    void migrate();

    void cleanUp();

    void take(String item, int number);

    List<Long> prices();

    void change(long price);

    boolean useTemplate(Image image);
  }

  /** Runs a snippet of statements. */
  public interface Statements {
    void run(ConnectionFactory connectionFactory, Server server, Image image, Table table)
        throws Exception;
  }
}
