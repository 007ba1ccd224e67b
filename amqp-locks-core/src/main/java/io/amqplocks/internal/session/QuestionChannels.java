package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.session.Rpc.Reading;
import java.io.IOException;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels of a connection that serve one question each, and when the broker last answered one. The
 * connection never publishes: a memory or disk alarm stops a publishing connection whole, and release and
 * verification must not stop (trap 4).
 *
 * <p>Concurrency: a channel serves one call at a time, and is lent to that call. A refusal (404, 405)
 * closes the channel and costs no more than that; if none is left, one is opened meanwhile. When an answer
 * is overdue, the channel stays lent until that very answer has come, so a late answer is never taken for
 * the next one's (trap 6); with the connection every outstanding answer fails, so none is waited for in
 * vain. A semaphore bounds how many channels are lent; who finds none waits for one within its own bound.
 * A queue is noted as overdue after its question, and struck out by whatever ends that, however they meet.
 */
final class QuestionChannels {

  private static final Logger log = LoggerFactory.getLogger(QuestionChannels.class);

  /** Far below the 2,047 that a broker allows, far above what keeps one busy. */
  private static final int MOST_CHANNELS = 256;

  private final Connection connection;
  private final Executor background;
  private final Ticker ticker;
  private final Deque<Channel> idle = new ConcurrentLinkedDeque<>();
  private final Semaphore lendable = new Semaphore(MOST_CHANNELS);
  private final AtomicBoolean opening = new AtomicBoolean();
  private final AtomicLong answeredAt;
  private final Set<String> overdue = ConcurrentHashMap.newKeySet();

  QuestionChannels(Connection connection, Executor background, Ticker ticker) {
    this.connection = connection;
    this.background = background;
    this.ticker = ticker;
    answeredAt = new AtomicLong(ticker.nanos());
  }

  /** Sends one method and waits for its answer, which says no more than yes or no. */
  Answer ask(Call call, String step, Method method, LateAnswer late) {
    return ask(call, step, method, Reading.NOTHING, late);
  }

  /**
   * As {@link #ask}, for a question about a queue that is asked again and again: while the answer to an
   * earlier one is overdue, it is not asked and answered {@link Answer#NONE} at once. A queue that hangs, for
   * hours perhaps, then keeps one channel and not all.
   */
  Answer askUnlessOverdue(Call call, String step, Method method, String queue) {
    return askUnlessOverdue(call, step, method, queue, Reading.NOTHING);
  }

  /** The same for an answer that says more than yes. */
  Answer askUnlessOverdue(Call call, String step, Method method, String queue, Reading reading) {
    if (overdue.contains(queue)) {
      return Answer.NONE;
    }
    CompletableFuture<Answer> late = new CompletableFuture<>();
    Answer answer = ask(call, step, method, reading, late::complete);
    if (answer == Answer.NONE) {
      overdue.add(queue);
      var unused = late.thenRun(() -> overdue.remove(queue));
    }
    return answer;
  }

  /** The same for an answer that says more than yes: as {@link Rpc#ask}, on a channel of ours. */
  Answer ask(Call call, String step, Method method, Reading reading, LateAnswer late) {
    Channel channel = borrow(call, step);
    boolean lent = true;
    boolean failed = true;
    try {
      long sentAt = ticker.nanos();
      Answer answer =
          Rpc.ask(
              channel,
              call,
              step,
              method,
              reading,
              background,
              came -> {
                giveBack(channel);
                late.came(came);
              });
      failed = false;
      lent = answer != Answer.NONE;
      return lent ? answered(sentAt, answer) : answer;
    } finally {
      if (failed && channel.isOpen()) {
        discard(channel);
      } else if (lent) {
        giveBack(channel);
      }
    }
  }

  /** What was not written may never be answered, and whoever asked there next would wait for that. */
  private void discard(Channel channel) {
    lendable.release();
    background.execute(
        () -> {
          try {
            channel.abort();
          } catch (IOException | ShutdownSignalException e) {
            log.debug("A channel was not closed: {}", e.getMessage());
          }
        });
  }

  private void giveBack(Channel channel) {
    if (channel.isOpen()) {
      idle.push(channel);
    } else if (connection.isOpen() && idle.isEmpty() && opening.compareAndSet(false, true)) {
      background.execute(this::openSpare);
    }
    lendable.release();
  }

  /** Who asks after a refusal is often in a hurry: a slot was said to be free. */
  private void openSpare() {
    try {
      Channel channel = idle.isEmpty() ? connection.createChannel() : null;
      if (channel != null) {
        idle.push(channel);
      }
    } catch (IOException | ShutdownSignalException e) {
      log.debug("No spare channel: {}", e.getMessage());
    } finally {
      opening.set(false);
    }
  }

  /** How long ago the newest request was sent that was answered: then the broker had heard from us. */
  long silentNanos() {
    return ticker.nanos() - answeredAt.get();
  }

  /** The broker answered what was sent on this connection at that time. */
  Answer answered(long sentAt, Answer answer) {
    answeredAt.accumulateAndGet(sentAt, (was, now) -> now - was > 0 ? now : was);
    return answer;
  }

  long nanos() {
    return ticker.nanos();
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
