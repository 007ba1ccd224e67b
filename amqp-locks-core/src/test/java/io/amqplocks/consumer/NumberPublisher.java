package io.amqplocks.consumer;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the numbers from 0 on, in equal shares, of which each is to be allowed: whoever waits
 * for something meanwhile finds some left. Some are published at a time, with a pause behind them.
 * To an ingress exchange each tenth number is published twice, with one id. What the broker refuses
 * is published again, on another connection if this one was closed.
 *
 * <p>Concurrency: a thread of its own publishes, and takes a permit for each number. Another thread
 * allows.
 */
final class NumberPublisher implements AutoCloseable {

  private static final long PAUSE_MILLIS = 10;

  /** At a time, when all the rest is to be published. */
  private static final int MANY = 1_000;

  private final Callable<Connection> connecting;
  private @Nullable Channel open;
  private final @Nullable String ingress;
  private final String queue;
  private final int messages;
  private final int shares;
  private final int some;
  private final Semaphore permits = new Semaphore(0);
  private final AtomicInteger allowed = new AtomicInteger();
  private final AtomicInteger published = new AtomicInteger();
  private final Set<Integer> again = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<Void> end = new CompletableFuture<>();
  private final Thread thread = new Thread(this::run, "publisher");

  /** Begins when it is allowed to. */
  NumberPublisher(
      Callable<Connection> connecting,
      @Nullable String ingress,
      String queue,
      int messages,
      int shares) {
    this.connecting = connecting;
    this.ingress = ingress;
    this.queue = queue;
    this.messages = messages;
    this.shares = shares;
    this.some = Math.max(1, messages / 2_000);
    thread.setDaemon(true);
    thread.start();
  }

  /** Allows it to publish another share. Throws what it failed by, if it did. */
  void allowShare() {
    if (end.isCompletedExceptionally()) {
      end.join();
    }
    allow(messages / shares);
  }

  private void allow(int numbers) {
    allowed.addAndGet(numbers);
    permits.release(numbers);
  }

  int published() {
    return published.get();
  }

  /** How many of the numbers that are published at a time are published twice, at most. */
  int twiceAtATime() {
    return ingress == null ? 0 : (some + 9) / 10;
  }

  /** How many numbers are published again, because the broker refused one of them. */
  int again() {
    return again.size();
  }

  /** Whether a number is published more than once. */
  boolean isTwice(int number) {
    return isTwiceAtATime(number) || again.contains(number);
  }

  private boolean isTwiceAtATime(int number) {
    return ingress != null && number % 10 == 0;
  }

  /** Publishes all that is left. */
  void finish() throws Exception {
    allow(messages - allowed.get());
    end.get(5, TimeUnit.MINUTES);
  }

  private void run() {
    try {
      for (int first = 0; first < messages; first = published.get()) {
        boolean all = allowed.get() == messages;
        int next = Math.min(first + (all ? MANY : some), messages);
        permits.acquire(next - first);
        publish(first, next);
        published.set(next);
        if (!all) {
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
      }
      end.complete(null);
    } catch (Exception e) {
      end.completeExceptionally(e);
    } finally {
      Channel last = open;
      if (last != null) {
        last.getConnection().abort();
      }
    }
  }

  private Channel channel() throws Exception {
    Channel last = open;
    if (last != null && last.isOpen()) {
      return last;
    }
    if (last != null) {
      last.getConnection().abort();
    }
    Channel next = connecting.call().createChannel();
    open = next;
    next.confirmSelect();
    return next;
  }

  /**
   * If the queue of an active one has just ended, a number is refused, or the broker closes the
   * connection (trap 20).
   */
  private void publish(int first, int next) throws Exception {
    while (!isPublished(first, next)) {
      IntStream.range(first, next).forEach(again::add);
    }
  }

  private boolean isPublished(int first, int next) throws Exception {
    Channel channel = channel();
    try {
      for (int number = first; number < next; number++) {
        publish(channel, number);
      }
      // Behind the others: the first copies of some are settled before the second ones come.
      for (int number = first; number < next; number++) {
        if (isTwiceAtATime(number)) {
          publish(channel, number);
        }
      }
      return channel.waitForConfirms(30_000);
    } catch (IOException | ShutdownSignalException closed) {
      ShutdownSignalException why = channel.getConnection().getCloseReason();
      if (ingress != null && String.valueOf(why).contains("reply-code=506")) {
        return false;
      }
      throw closed;
    }
  }

  private void publish(Channel channel, int number) throws IOException {
    String text = Integer.toString(number);
    channel.basicPublish(
        ingress != null ? ingress : "",
        queue,
        MessageProperties.PERSISTENT_BASIC.builder().messageId(text).build(),
        text.getBytes(StandardCharsets.UTF_8));
  }

  /** Publishes no more. */
  @Override
  public void close() {
    thread.interrupt();
  }
}
