package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.test.Cluster;
import io.amqplocks.test.ClusterNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * Publishes the numbers from 0 on, some at a time, by any node that takes them, on a thread of its
 * own. It does not get far ahead of those who handle them: on a busy machine it is faster than they
 * are, and at the end they would be behind by minutes.
 *
 * <p>Those that were not all confirmed are published again, on another connection: if the leader of
 * the queue dies just before a channel's first message, 3.10 refuses whatever that channel
 * publishes until the node is back.
 */
final class ClusterPublisher implements AutoCloseable {

  /** At a time, more than a consumer is sent ahead. */
  private static final int SOME = 20;

  private static final long PAUSE_MILLIS = 20;

  /** How far it gets ahead, at least, and twice that at most. */
  private static final int AHEAD = 1_000;

  private final Cluster cluster;
  private final String exchange;
  private final String queue;
  private final LongSupplier handled;
  private final Thread thread = new Thread(this::run, "publisher");
  private volatile boolean finished;
  private final AtomicInteger published = new AtomicInteger();
  private final AtomicInteger again = new AtomicInteger();

  /** Those that were published more than once. */
  private final Set<Integer> repeated = ConcurrentHashMap.newKeySet();

  /**
   * Begins at once.
   *
   * @param handled how many numbers were handled
   */
  ClusterPublisher(Cluster cluster, String exchange, String queue, LongSupplier handled) {
    this.cluster = cluster;
    this.exchange = exchange;
    this.queue = queue;
    this.handled = handled;
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    int tries = 0;
    while (!finished) {
      ClusterNode node = cluster.nodes().get(tries % cluster.nodes().size());
      tries++;
      boolean open = false;
      try (Connection connection = node.connectionFactory().newConnection();
          Channel channel = connection.createChannel()) {
        channel.confirmSelect();
        AtomicBoolean returned = new AtomicBoolean();
        channel.addReturnListener(message -> returned.set(true));
        open = true;
        boolean confirmed = true;
        while (confirmed && !finished) {
          int first = published.get();
          if (first % AHEAD == 0) {
            awaitHandled(first - AHEAD);
          }
          for (int number = first; number < first + SOME; number++) {
            publish(channel, Integer.toString(number));
          }
          // What goes to no queue is returned before it is confirmed.
          confirmed = channel.waitForConfirms(5_000) && !returned.get();
          if (confirmed) {
            published.set(first + SOME);
          } else {
            countAgain();
          }
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
      } catch (IOException | TimeoutException | ShutdownSignalException retried) {
        if (open) {
          countAgain();
        }
      } catch (InterruptedException closed) {
        return;
      }
    }
  }

  private void awaitHandled(int number) throws InterruptedException {
    while (!finished && handled.getAsLong() < number) {
      TimeUnit.MILLISECONDS.sleep(10 * PAUSE_MILLIS);
    }
  }

  private void publish(Channel channel, String number) throws IOException {
    channel.basicPublish(
        exchange,
        queue,
        true,
        MessageProperties.PERSISTENT_BASIC.builder().messageId(number).build(),
        number.getBytes(StandardCharsets.UTF_8));
  }

  private void countAgain() {
    int first = published.get();
    IntStream.range(first, first + SOME).forEach(repeated::add);
    again.incrementAndGet();
  }

  /** Whether that number may have been published more than once. */
  boolean isAgain(int number) {
    return repeated.contains(number);
  }

  int again() {
    return again.get();
  }

  /** How many numbers there are, when no more are published. */
  int finish() throws InterruptedException {
    assertThat(thread.isAlive()).isTrue();
    finished = true;
    thread.join(120_000);
    assertThat(thread.isAlive()).isFalse();
    return published.get();
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
