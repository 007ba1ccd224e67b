package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Rpc.LateAnswer;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels of a connection for one request at a time each, and the time of the last answered
 * request. The connection never publishes: a memory or disk alarm stops a publishing connection
 * completely, and release and verification must not stop (trap 4).
 *
 * <p>Concurrency: a channel serves one call at a time, and is lent to that call. A refusal (404,
 * 405) closes the channel and has no other cost. If no idle channel is left, one is opened in the
 * background. If a reply is overdue, the channel stays lent until that very reply arrives, so a
 * late reply is never taken for the reply to the next request (trap 6). If the connection breaks,
 * every outstanding request fails with it, so no reply is awaited in vain. A semaphore bounds the
 * number of lent channels. A call that finds none waits for one within its own bound.
 */
public final class RpcChannelPool {

  private static final Logger log = LoggerFactory.getLogger(RpcChannelPool.class);

  /** Far below the 2,047 that a broker allows, and far above the number that keeps one busy. */
  private static final int MOST_CHANNELS = 256;

  private final Connection connection;
  private final Executor background;
  private final Ticker ticker;
  private final Runnable channelEnded;
  private final Deque<Channel> idle = new ConcurrentLinkedDeque<>();
  private final Semaphore lendable = new Semaphore(MOST_CHANNELS);
  private final AtomicBoolean opening = new AtomicBoolean();
  private final AtomicLong answeredAt;
  private final OverdueQueues overdue = new OverdueQueues();

  public RpcChannelPool(Connection connection, Executor background, Ticker ticker) {
    this(connection, background, ticker, () -> {});
  }

  /**
   * A pool that tells at once when one of its channels has ended. If the broker closes the
   * connection, its channels hear of that, and its own listeners do when the socket is closed,
   * which may take ten seconds more.
   *
   * @param channelEnded must not block
   */
  public RpcChannelPool(
      Connection connection, Executor background, Ticker ticker, Runnable channelEnded) {
    this.connection = connection;
    this.background = background;
    this.ticker = ticker;
    this.channelEnded = channelEnded;
    answeredAt = new AtomicLong(ticker.nanos());
  }

  /**
   * Sends one method and waits for its reply, which carries no more than yes or no.
   *
   * @throws LockException.Unanswered if the broker did not reply in time; a late reply is ignored
   */
  public Answer ask(Call call, String step, Method method) {
    return ask(call, step, method, Reading.NOTHING);
  }

  /** Sends one method, like the method above, whose reply carries more than yes or no. */
  public Answer ask(Call call, String step, Method method, Reading reading) {
    return replied(call, step, ask(call, step, method, reading, late -> {}));
  }

  /** Sends one method for a caller that handles a late reply; see {@link Rpc#ask}. */
  public Answer ask(Call call, String step, Method method, LateAnswer late) {
    return ask(call, step, method, Reading.NOTHING, late);
  }

  static Answer replied(Call call, String step, Answer answer) {
    if (answer == Answer.TIMED_OUT) {
      throw call.unanswered(step);
    }
    return answer;
  }

  /**
   * Sends a repeated request about a queue, unless the reply to an earlier one is overdue, or to a
   * few earlier gets. So a queue that hangs, perhaps for hours, does not occupy all channels.
   *
   * @throws LockException.Unanswered if the broker did not reply in time, or at once if an earlier
   *     reply is overdue
   */
  public Answer askUnlessOverdue(Call call, String step, Method method, String queue) {
    return askUnlessOverdue(call, step, method, queue, Reading.NOTHING);
  }

  /** Sends a repeated request, like the method above, whose reply carries more than yes or no. */
  public Answer askUnlessOverdue(
      Call call, String step, Method method, String queue, Reading reading) {
    if (overdue.owes(queue, method instanceof Get ? OverdueQueues.MOST_GETS : 1)) {
      throw OverdueQueues.refused(call, step, queue);
    }
    CompletableFuture<Answer> late = new CompletableFuture<>();
    Answer answer = ask(call, step, method, reading, late::complete);
    if (answer == Answer.TIMED_OUT) {
      overdue.add(queue, late);
    }
    return replied(call, step, answer);
  }

  /**
   * Looks for a queue by a passive declare.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   */
  public QueueState look(Call call, String queue) {
    String step = "look for queue " + queue;
    QueueState.Reader reader = new QueueState.Reader();
    return reader.state(ask(call, step, QueueArguments.passive(queue), reader));
  }

  /**
   * Looks for a queue, like {@link #look}, unless the reply to an earlier look is overdue.
   *
   * @throws LockException.Unanswered if the broker did not reply in time, or at once if an earlier
   *     reply is overdue
   */
  public QueueState lookUnlessOverdue(Call call, String queue) {
    QueueState.Reader reader = new QueueState.Reader();
    return reader.state(
        askUnlessOverdue(
            call, "look for queue " + queue, QueueArguments.passive(queue), queue, reader));
  }

  /**
   * Sends one method, as {@link Rpc#ask} does, on a channel of this connection. The reply may carry
   * more than yes or no.
   */
  public Answer ask(Call call, String step, Method method, Reading reading, LateAnswer late) {
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
      lent = answer != Answer.TIMED_OUT;
      return lent ? answered(sentAt, answer) : answer;
    } finally {
      if (failed && channel.isOpen()) {
        discard(channel);
      } else if (lent) {
        giveBack(channel);
      }
    }
  }

  /**
   * Closes a channel whose request was possibly not written. The reply may never come, and the next
   * caller on that channel would wait for it.
   */
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

  /** Opens a channel of the connection; null if it has as many as it may have. */
  @Nullable Channel openChannel() throws IOException {
    Channel opened = connection.createChannel();
    if (opened != null) {
      opened.addShutdownListener(cause -> channelEnded.run());
    }
    return opened;
  }

  /**
   * Opens a spare channel. A caller is often in a hurry after a refusal, because a slot was
   * reported as free.
   */
  private void openSpare() {
    try {
      Channel channel = idle.isEmpty() ? openChannel() : null;
      if (channel != null) {
        idle.push(channel);
      }
    } catch (IOException | ShutdownSignalException e) {
      log.debug("No spare channel: {}", e.getMessage());
    } finally {
      opening.set(false);
    }
  }

  /**
   * The time since the sending of the newest request that the broker has answered or carried out,
   * and so had received.
   */
  public long silentNanos() {
    return ticker.nanos() - answeredAt.get();
  }

  /**
   * Records that the broker answered a request that was sent on this connection at the given time.
   */
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
      Channel channel = openChannel();
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
    if (call.remainingNanos() == 0 || !Futures.acquire(lendable, call)) {
      throw call.unanswered(step);
    }
  }
}
