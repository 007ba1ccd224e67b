package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection that owns the exclusive queues. It never publishes: a memory or disk alarm stops a
 * publishing connection whole, and release and verification must not stop (trap 4). {@link CounterQueues} lend channels of a connection of theirs in the same way.
 *
 * <p>Concurrency: a channel serves one call at a time, and is lent to that call. A refusal (404, 405)
 * closes the channel and costs no more than that. When an answer is overdue, the channel stays lent
 * until that very answer has come, so a late answer is never taken for the next one's (trap 6); with
 * the connection every outstanding answer fails, so none is waited for in vain. A semaphore bounds how
 * many channels are lent; who finds none waits for one within its own bound.
 */
final class HolderConnection {

  /** Far below the 2,047 that a broker allows, far above what keeps one busy. */
  private static final int MOST_CHANNELS = 256;

  private static final Logger log = LoggerFactory.getLogger(HolderConnection.class);

  private final Connection connection;
  private final Executor background;
  private final Ticker ticker;
  private final Deque<Channel> idle = new ConcurrentLinkedDeque<>();
  private final Semaphore lendable = new Semaphore(MOST_CHANNELS);
  private final AtomicLong answeredAt;

  HolderConnection(Connection connection, Executor background, Ticker ticker) {
    this.connection = connection;
    this.background = background;
    this.ticker = ticker;
    answeredAt = new AtomicLong(ticker.nanos());
  }

  /** Looks at an answer, in time or late, while the channel that it came on is lent to nobody else. */
  @FunctionalInterface
  interface Reading {
    /** Nothing to look at. */
    Reading NOTHING = (channel, answer) -> {};

    void of(Channel channel, Command answer) throws IOException;
  }

  /** What to do with an answer that came too late; NONE if the channel broke instead. */
  @FunctionalInterface
  interface LateAnswer {
    /** Nothing to do. */
    LateAnswer IGNORED = answer -> {};

    void came(Answer answer);
  }

  /**
   * Sends one method and waits for its answer within the call's bound.
   *
   * @param late is called in the background if this returns {@link Answer#NONE}, once the answer
   *     came or the channel is gone
   */
  Answer ask(Call call, String step, Method method, LateAnswer late) {
    return ask(call, step, method, Reading.NOTHING, late);
  }

  /**
   * The same for a method whose answer says more than yes.
   *
   * @param read is given the answer before this returns {@link Answer#OK}
   */
  Answer ask(Call call, String step, Method method, LateAnswer late, Consumer<Command> read) {
    return ask(call, step, method, (channel, reply) -> read.accept(reply), late);
  }

  /**
   * The same for an answer that says more than yes.
   *
   * @param reading sees the answer, whenever it comes, before the channel serves another call
   */
  Answer ask(Call call, String step, Method method, Reading reading, LateAnswer late) {
    Channel channel = borrow(call, step);
    boolean lent = true;
    try {
      long sentAt = ticker.nanos();
      CompletableFuture<Command> reply = channel.asyncCompletableRpc(method);
      try {
        reading.of(channel, Futures.await(reply, call.remainingNanos()));
        idle.push(channel);
        return answered(sentAt, Answer.OK);
      } catch (TimeoutException e) {
        lent = false;
        var unused =
            reply.whenCompleteAsync(
                (answer, failure) -> settle(channel, answer, failure, reading, late), background);
        return Answer.NONE;
      } catch (ExecutionException e) {
        Answer expected = BrokerErrors.expected(e);
        if (expected == null) {
          throw BrokerErrors.calling(call, step, e);
        }
        return answered(sentAt, expected);
      }
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    } finally {
      if (lent) {
        lendable.release();
      }
    }
  }

  /** How long ago the newest request was sent that was answered: then the broker had heard from us. */
  long silentNanos() {
    return ticker.nanos() - answeredAt.get();
  }

  private Answer answered(long sentAt, Answer answer) {
    answeredAt.accumulateAndGet(sentAt, (was, now) -> now - was > 0 ? now : was);
    return answer;
  }

  private void settle(
      Channel channel,
      @Nullable Command reply,
      @Nullable Throwable failure,
      Reading reading,
      LateAnswer late) {
    if (reply != null) {
      try {
        reading.of(channel, reply);
        idle.push(channel);
      } catch (IOException | ShutdownSignalException e) {
        log.debug("A late answer met a broken channel: {}", BrokerErrors.text(e));
      }
    }
    lendable.release();
    Answer answer = failure == null ? Answer.OK : BrokerErrors.expected(failure);
    late.came(answer == null ? Answer.NONE : answer);
  }

  private Channel borrow(Call call, String step) {
    await(call, step);
    try {
      for (Channel channel = idle.poll(); channel != null; channel = idle.poll()) {
        if (channel.isOpen()) {
          return channel;
        }
      }
      Channel channel = connection.createChannel();
      if (channel != null) {
        return channel;
      }
    } catch (IOException | ShutdownSignalException e) {
      lendable.release();
      throw BrokerErrors.calling(call, step, e);
    }
    lendable.release();
    throw call.noChannel(step);
  }

  private void await(Call call, String step) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (call.remainingNanos() > 0
              && lendable.tryAcquire(call.remainingNanos(), TimeUnit.NANOSECONDS)) {
            return;
          }
          throw call.unanswered(step);
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
}
