package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * A client of the guidelines that knows nothing of wake queues: it notifies nobody when it releases
 * the lock, and takes it again a moment later. While the lock is busy, it asks again and again.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class Stranger implements Callable<AutoCloseable> {

  private static final long HOLD_MILLIS = 10;
  private static final long PAUSE_MILLIS = 3;

  private final Connection connection;
  private final String queue;
  private Channel channel;

  /** Connects it. Whoever owns the exclusive queue holds the lock. */
  Stranger(Lab lab, String queue) throws Exception {
    this.queue = queue;
    connection = lab.connection();
    channel = connection.createChannel();
  }

  /** Waits until it holds the lock. Its release is that of a stranger too. */
  @Override
  public AutoCloseable call() throws Exception {
    while (true) {
      Raw raw = new Raw(channel);
      try {
        AutoCloseable held = holding(take(raw));
        return () -> {
          held.close();
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        };
      } catch (IOException busy) {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        channel = connection.createChannel();
      }
    }
  }

  private AutoCloseable take(Raw raw) throws Exception {
    raw.declareExclusive(queue);
    return () -> raw.delete(queue);
  }

  /** Releases it after the time for which everybody holds it here. */
  static AutoCloseable holding(AutoCloseable lease) {
    return () -> {
      TimeUnit.MILLISECONDS.sleep(HOLD_MILLIS);
      lease.close();
    };
  }
}
