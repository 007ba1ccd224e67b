package io.amqplocks.shedlock;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says at the broker until when a lock must not be acquired, whatever becomes of its holder.
 *
 * <p>A marker is a persistent message in a durable queue of the lock's name. It expires by itself
 * when its time is over, and a restart of the broker does not prolong it. There is no lock as long
 * as the queue has messages. Only the holder of the mutex looks at them and publishes them, so
 * nothing comes between the look and the marker.
 *
 * <p>Threads share one connection, and each call has a channel of its own. The connection is a
 * future that is set by compare-and-set. Whoever finds none, or one that is over, sets the next one
 * and begins to connect. The others wait for the same, for a limited time.
 */
// More than 300 lines: all that is said to the broker is here, with what each failure of it means.
final class Markers {

  /** The broker counts the milliseconds of a message's life in 32 bits. */
  static final Duration LONGEST = Duration.ofDays(49);

  private static final Logger log = LoggerFactory.getLogger(Markers.class);

  private static final String NAME = "amqp-locks shedlock";
  private static final int TIMEOUT = 5_000;

  /** The 255 bytes of a queue name, less the longest {@code shedlock.NAME}. */
  private static final int MAX_PREFIX_BYTES = 255 - LockName.MAX_BYTES;

  /**
   * Nodes that cannot be reached take the timeout each, and those that say nothing half of it. The
   * attempt goes on, and later calls wait for it.
   */
  private static final int MOST_FOR_CONNECTING = 2 * TIMEOUT;

  /** By which Apache Qpid closes the connection that declares a queue which it does not have. */
  private static final int INVALID_ARGUMENT = 542;

  private static final Map<String, Object> CLASSIC = Map.of("x-queue-type", "classic");

  private final ConnectionFactory factory;
  private final List<Address> nodes;
  private final String prefix;
  private final AtomicReference<@Nullable CompletableFuture<Connection>> connection =
      new AtomicReference<>();

  /** The locks whose queue has not answered in time, until it answers. */
  private final Set<String> overdue = ConcurrentHashMap.newKeySet();

  private volatile boolean closed;

  Markers(ConnectionFactory factory, List<Address> nodes, String queuePrefix) {
    check(queuePrefix);
    this.nodes = List.copyOf(nodes);
    this.factory = factory.clone();
    this.factory.setAutomaticRecoveryEnabled(false);
    this.factory.setConnectionTimeout(TIMEOUT);
    this.factory.setHandshakeTimeout(TIMEOUT);
    this.factory.setChannelRpcTimeout(TIMEOUT);
    // An application that replaces all client properties drops these. Without them a broker that
    // refuses the user closes the connection and does not say why.
    Map<String, Object> properties = new HashMap<>(factory.getClientProperties());
    properties.put(
        "capabilities", new ConnectionFactory().getClientProperties().get("capabilities"));
    this.factory.setClientProperties(properties);
    this.prefix = queuePrefix + "shedlock.";
  }

  /** As the one of {@code AmqpLocks}. The client library would wait for ever with a longer name. */
  private static void check(String queuePrefix) {
    if (queuePrefix.getBytes(StandardCharsets.UTF_8).length > MAX_PREFIX_BYTES) {
      throw new LockException.Invalid(
          "The queue prefix '%s' is longer than %d bytes".formatted(queuePrefix, MAX_PREFIX_BYTES));
    }
    if (queuePrefix.startsWith("amq.")) {
      throw new LockException.Invalid(
          "The queue prefix '%s' begins with 'amq.', which RabbitMQ keeps for itself"
              .formatted(queuePrefix));
    }
  }

  static void check(String name, Duration atLeast) {
    LockName.of("shedlock:" + name);
    if (atLeast.compareTo(LONGEST) > 0) {
      throw new LockException.Invalid(
          "The lock '%s' cannot be held for %s at least; use 49 days or less"
              .formatted(name, atLeast));
    }
  }

  /** Adds a marker, unless there is one. Returns whether there was none. */
  boolean markUnlessMarked(String name, Duration time) {
    return onChannel(
        name,
        channel -> {
          if (count(channel, name) > 0) {
            return false;
          }
          publish(channel, name, time);
          return true;
        });
  }

  /** Adds a marker to those that there are; the longest counts. */
  void mark(String name, Duration time) {
    onChannel(
        name,
        channel -> {
          // A marker without a queue would be returned, and the lock would be kept by nothing.
          count(channel, name);
          publish(channel, name, time);
          return true;
        });
  }

  /**
   * Sets a marker in place of all that there are. It comes before the old ones go: whoever dies
   * meanwhile leaves more markers than wanted. If an old one expires meanwhile, the new one is
   * looked at too, and for that moment the queue has it and does not count it.
   */
  void replace(String name, Duration time) {
    onChannel(
        name,
        channel -> {
          int old = count(channel, name);
          publish(channel, name, time);
          if (isNone(time)) {
            channel.queuePurge(prefix + name);
          } else {
            removeOldest(channel, name, old);
          }
          return true;
        });
  }

  /** So many markers, or fewer if some have expired: the newest one stays. */
  private void removeOldest(Channel channel, String name, int number) throws IOException {
    for (int i = 0; i < number; i++) {
      GetResponse oldest = channel.basicGet(prefix + name, false);
      if (oldest == null) {
        return;
      }
      long tag = oldest.getEnvelope().getDeliveryTag();
      if (oldest.getMessageCount() == 0) {
        channel.basicNack(tag, false, true);
        return;
      }
      channel.basicAck(tag, false);
    }
  }

  void close() {
    closed = true;
    CompletableFuture<Connection> last = connection.getAndSet(null);
    if (last != null) {
      var unused = last.thenAccept(open -> open.abort(TIMEOUT));
    }
  }

  private int count(Channel channel, String name) throws IOException {
    return channel.queueDeclare(prefix + name, true, false, false, CLASSIC).getMessageCount();
  }

  private static boolean isNone(Duration time) {
    return time.isZero() || time.isNegative();
  }

  private void publish(Channel channel, String name, Duration time)
      throws IOException, TimeoutException {
    if (isNone(time)) {
      return;
    }
    BasicProperties marker =
        new BasicProperties.Builder()
            .deliveryMode(2)
            // Rounded up: a lock that is free a moment early is no lock.
            .expiration(Long.toString(time.plusNanos(999_999).toMillis()))
            .build();
    AtomicBoolean returned = new AtomicBoolean();
    channel.addReturnListener(message -> returned.set(true));
    channel.confirmSelect();
    channel.basicPublish("", prefix + name, true, marker, new byte[0]);
    if (!isConfirmed(channel)) {
      throw new LockException.Unanswered(
          "The broker did not take the marker that keeps the lock '%s' for %s"
              .formatted(name, time));
    }
    // The broker returns a message before it confirms it.
    if (returned.get()) {
      throw new LockException.Conflict(
          "Queue %s%s was deleted before the marker that keeps the lock '%s' for %s was in it; see who deletes it"
              .formatted(prefix, name, name, time));
    }
  }

  /**
   * Waits though the thread is interrupted. Whoever gave up would leave the marker, and it would
   * keep the lock though nobody had it.
   */
  private static boolean isConfirmed(Channel channel) throws TimeoutException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(TIMEOUT);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          // To the client, zero is for ever.
          long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
          return channel.waitForConfirms(Math.max(1, left));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private interface Steps {
    boolean on(Channel channel) throws IOException, TimeoutException;
  }

  private boolean onChannel(String name, Steps steps) {
    try {
      requireAnswered(name);
      Channel channel = channel(name);
      try {
        return steps.on(channel);
      } catch (ChannelContinuationTimeoutException e) {
        overdue.add(name);
        throw e;
      } finally {
        closeWhenAnswered(channel, name);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted(
          "Interrupted while connecting, to ask how long the lock '%s' is kept".formatted(name));
    } catch (IOException | TimeoutException | ShutdownSignalException e) {
      String lacks = refusedArguments(e);
      if (lacks != null) {
        throw new LockException.Unsupported(
            "ShedLock's locks need RabbitMQ, and this broker does not have the queue that would keep the lock '%s': %s; use ShedLock's InMemoryLockProvider for a test"
                .formatted(name, lacks));
      }
      requireAdmitted(name, e);
      throw new LockException.Unreachable(
          "The broker did not say or store how long the lock '%s' is kept, in queue '%s%s': %s"
              .formatted(name, prefix, name, words(e)),
          e);
    }
  }

  /** The broker's, if it said why. The client library wraps them in exceptions that have none. */
  private static String words(Exception failure) {
    Throwable cause = failure instanceof ShutdownSignalException ? failure : failure.getCause();
    return cause instanceof ShutdownSignalException signal
            && signal.getReason() instanceof AMQP.Channel.Close close
        ? close.getReplyText()
        : failure.toString();
  }

  /** A queue that hangs for hours costs one channel, and not one for each attempt. */
  private void requireAnswered(String name) {
    if (overdue.contains(name)) {
      throw new LockException.Unanswered(
          "The broker has not answered yet when it was last asked how long the lock '%s' is kept; see whether queue '%s%s' hangs"
              .formatted(name, prefix, name));
    }
  }

  private Channel channel(String name) throws IOException, TimeoutException, InterruptedException {
    Connection shared = open();
    Channel channel;
    try {
      channel = shared.createChannel();
    } catch (ChannelContinuationTimeoutException e) {
      // An alarm blocks it, or the broker is frozen. The client would not use the channel's number
      // again. It is not worth another wait.
      shared.abort(1);
      throw e;
    }
    if (channel == null) {
      throw new LockException.Unanswered(
          "All channels of the connection '%s' are in use; how long the lock '%s' is kept cannot be stored now"
              .formatted(NAME, name));
    }
    return channel;
  }

  /**
   * Closes a channel, and does not wait for that. It may be stuck, because its queue hangs or an
   * alarm came. If a close is not answered in time, the client gives the channel's number to
   * another call, and the broker ends the connection of all. So one more reply is awaited before
   * the close.
   */
  private void closeWhenAnswered(Channel channel, String name) {
    try {
      var unused =
          channel
              .asyncCompletableRpc(new AMQP.Basic.Qos.Builder().prefetchCount(1).build())
              .whenCompleteAsync((reply, failure) -> abort(channel, name));
    } catch (IOException | ShutdownSignalException e) {
      abort(channel, name);
    }
  }

  private void abort(Channel channel, String name) {
    overdue.remove(name);
    try {
      channel.abort();
    } catch (IOException | ShutdownSignalException e) {
      log.debug("Channel not closed: {}", e.toString());
    }
  }

  private Connection open() throws IOException, TimeoutException, InterruptedException {
    while (true) {
      if (closed) {
        throw new LockException.Closed("The AmqpLockProvider was closed");
      }
      CompletableFuture<Connection> present = connection.get();
      if (present == null || isOver(present)) {
        CompletableFuture<Connection> next = new CompletableFuture<>();
        if (connection.compareAndSet(present, next)) {
          connect(next);
          return await(next);
        }
      } else {
        return await(present);
      }
    }
  }

  private static boolean isOver(CompletableFuture<Connection> attempt) {
    // In this order: it may end meanwhile.
    return attempt.isDone() && (attempt.isCompletedExceptionally() || !attempt.join().isOpen());
  }

  /** On a thread of its own: with many nodes it takes longer than a call is to wait. */
  private void connect(CompletableFuture<Connection> attempt) {
    Thread thread =
        new Thread(
            () -> {
              try {
                attempt.complete(
                    nodes.isEmpty()
                        ? factory.newConnection(NAME)
                        : factory.newConnection(nodes, NAME));
                if (closed) {
                  close();
                }
              } catch (IOException | TimeoutException | RuntimeException | Error e) {
                attempt.completeExceptionally(e);
              }
            },
            NAME + " connecting");
    thread.setDaemon(true);
    try {
      thread.start();
    } catch (Error e) {
      attempt.completeExceptionally(e);
    }
  }

  private static Connection await(CompletableFuture<Connection> attempt)
      throws IOException, TimeoutException, InterruptedException {
    try {
      return attempt.get(MOST_FOR_CONNECTING, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof IOException io) {
        throw io;
      }
      if (cause instanceof TimeoutException late) {
        throw late;
      }
      if (cause instanceof ShutdownSignalException ended) {
        throw ended;
      }
      // The application's part of it has failed, as a credentials provider.
      throw new IOException(cause);
    }
  }

  /** Throws if the broker refuses the user, or the queue as it is: to wait would not help. */
  private void requireAdmitted(String name, Exception failure) {
    Throwable cause = failure instanceof IOException ? failure.getCause() : failure;
    boolean isRefused =
        failure instanceof AuthenticationFailureException
            || (cause instanceof ShutdownSignalException signal
                && signal.getReason() instanceof AMQP.Channel.Close close
                && close.getReplyCode() == AMQP.ACCESS_REFUSED);
    if (isRefused) {
      throw new LockException.Refused(
          "The broker refuses the user what the lock '%s' needs to be kept: configure, write and read of queue '%s%s', and write of the default exchange: %s"
              .formatted(name, prefix, name, words(failure)),
          failure);
    }
    if (cause instanceof ShutdownSignalException signal
        && signal.getReason() instanceof AMQP.Channel.Close close
        && close.getReplyCode() == AMQP.PRECONDITION_FAILED) {
      throw new LockException.Conflict(
          "Queue '%s%s', which keeps the lock '%s', was declared otherwise by somebody else; delete it: %s"
              .formatted(prefix, name, name, close.getReplyText()));
    }
  }

  /** The broker's words, if it does not have such a queue; else null. It looks like an outage. */
  private static @Nullable String refusedArguments(Exception failure) {
    Throwable cause = failure instanceof IOException ? failure.getCause() : failure;
    return cause instanceof ShutdownSignalException signal
            && signal.getReason() instanceof AMQP.Connection.Close close
            && close.getReplyCode() == INVALID_ARGUMENT
        ? close.getReplyText()
        : null;
  }
}
