package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.Queue;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Rpc.LateAnswer;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels of a connection that carry one consumer or message each. They are kept open and used
 * again.
 *
 * <p>Concurrency: a channel is lent from the first request of what it carries until the reply to
 * the last one, however late that arrives. So a late reply is never taken for the reply to the next
 * request (trap 6). For the same reason this side closes no channel before that: the client would
 * give away the channel's number while replies are still under way. A semaphore bounds the number
 * of lent channels. The channel given back last is lent first: what its last user left for the
 * broker to do is done before the next user's request.
 */
public final class ConsumerChannelPool {

  private static final Logger log = LoggerFactory.getLogger(ConsumerChannelPool.class);

  static final Method ONE_AT_A_TIME = new Basic.Qos.Builder().prefetchCount(1).build();

  /** The broker's default, used if the broker sets no bound of its own. */
  private static final int USUAL = 2047;

  private final RpcChannelPool rpc;
  private final Executor background;
  private final int most;
  private final int spare;
  private final Semaphore available;
  private final AtomicBoolean opening = new AtomicBoolean();
  private final OverdueQueues overdue = new OverdueQueues();
  private final Deque<ConsumerChannel> idle = new ConcurrentLinkedDeque<>();

  public ConsumerChannelPool(Connection connection, RpcChannelPool rpc, Executor background) {
    this.rpc = rpc;
    this.background = background;
    int allowed = connection.getChannelMax() == 0 ? USUAL : connection.getChannelMax();
    // The rest is left to all other calls, above all to releases.
    most = Math.max(1, allowed * 3 / 4);
    spare = Math.max(1, allowed / 16);
    available = new Semaphore(most + spare);
  }

  /** Whether any channel is lent. */
  boolean isLent() {
    return available.availablePermits() < most + spare;
  }

  /**
   * Lends a channel that carries nothing yet. Does not wait for one, because channels may be lent
   * for hours.
   *
   * @param queue what the first request on it is about. What is held already is asked for on other
   *     channels
   * @throws LockException.Unanswered at once if that queue owes replies to earlier requests
   */
  public BorrowedChannel borrow(Call call, String step, String queue) {
    if (overdue.owes(queue, OverdueQueues.MOST_GETS)) {
      throw OverdueQueues.refused(call, step, queue);
    }
    return borrow(call, step, spare);
  }

  /**
   * Lends a channel to a caller that gives another one back soon. Some channels are reserved for
   * this. Without them, many holders could not be verified.
   */
  public BorrowedChannel borrowInExchange(Call call, String step) {
    return borrow(call, step, 0);
  }

  private BorrowedChannel borrow(Call call, String step, int left) {
    if (available.availablePermits() <= left || !available.tryAcquire()) {
      throw LockException.Unanswered.contended(
          "Cannot %s for %s now: %d channels of the connection carry a held lock or a waiter each, and no more may"
                  .formatted(step, call.lock(), most)
              + "; release some, raise the broker's channel_max, or use a second AmqpLocks");
    }
    for (ConsumerChannel each = idle.poll(); each != null; each = idle.poll()) {
      if (each.isOpen()) {
        return new BorrowedChannel(each.borrow());
      }
    }
    return open(call, step);
  }

  private BorrowedChannel open(Call call, String step) {
    BorrowedChannel opened = null;
    try {
      Channel channel = rpc.openChannel();
      if (channel == null) {
        throw call.noChannel(step);
      }
      opened = new BorrowedChannel(new ConsumerChannel(channel).borrow());
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    } finally {
      if (opened == null) {
        available.release();
      }
    }
    BorrowedChannel loan = opened;
    if (ask(call, step, loan, ONE_AT_A_TIME, Reading.NOTHING, late -> giveBack(loan))
        == Answer.TIMED_OUT) {
      throw call.unanswered(step);
    }
    return loan;
  }

  /**
   * Sends a request on a lent channel, which remains lent.
   *
   * @throws LockException.Unanswered if the broker did not reply in time, or the channel owes the
   *     reply to another request; a late reply is ignored
   */
  public Answer ask(
      Call call, String step, BorrowedChannel channel, Method method, Reading reading) {
    return RpcChannelPool.replied(
        call, step, ask(call, step, channel, method, reading, late -> {}));
  }

  /**
   * Sends a request on a lent channel, for a caller that handles a late reply, as {@link Rpc#ask}
   * does. If this throws, the channel is of no more use and was given back. If it returns
   * TIMED_OUT, {@code late} must give it back. No request is sent on a channel that was given back
   * in the meantime, or that still owes another reply. The result is then TIMED_OUT, and {@code
   * late} is called at once.
   */
  public Answer ask(
      Call call,
      String step,
      BorrowedChannel channel,
      Method method,
      Reading reading,
      LateAnswer late) {
    return ask(call, step, channel, method, reading, late, () -> true);
  }

  /**
   * Ends the consumer on a lent channel and begins it again, with the same tag, as {@link #ask}
   * does. Its messages stay with it.
   *
   * @param wanted whether it is still wanted, when nobody can end it any more but behind this
   * @return ABSENT also if it is not
   */
  public Answer consumeAgain(
      Call call,
      String step,
      BorrowedChannel channel,
      Basic.Consume consume,
      BooleanSupplier wanted,
      LateAnswer late) {
    return ask(
        call,
        step,
        channel,
        consume,
        Reading.NOTHING,
        late,
        () -> channel.channel().endBefore(consume, wanted));
  }

  /** What is sent just before a request, on the same channel, and has no reply. */
  @FunctionalInterface
  private interface Prelude {
    /** Returns false if the request is not wanted any more. */
    boolean send() throws IOException;
  }

  private Answer ask(
      Call call,
      String step,
      BorrowedChannel channel,
      Method method,
      Reading reading,
      LateAnswer late,
      Prelude prelude) {
    ConsumerChannel asked = channel.channel();
    String queue = queue(method);
    if (!begin(channel, method)) {
      late.came(Answer.TIMED_OUT);
      return Answer.TIMED_OUT;
    }
    CompletableFuture<Answer> reply = new CompletableFuture<>();
    Answer answer = Answer.TIMED_OUT;
    boolean failed = true;
    try {
      if (!prelude.send()) {
        failed = false;
        answer = Answer.ABSENT;
        return answer;
      }
      long sentAt = rpc.nanos();
      answer =
          Rpc.ask(
              channel.getChannel(),
              call,
              step,
              method,
              reading,
              background,
              came -> {
                reply.complete(came);
                cameLate(asked, late, came);
              });
      failed = false;
      if (answer != Answer.TIMED_OUT) {
        return rpc.answered(sentAt, answer);
      }
      if (!queue.isEmpty()) {
        overdue.add(queue, reply);
      }
      return answer;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    } finally {
      if (failed) {
        // The channel may wait for a reply to a request that was never sent. Another request would
        // wait behind that one.
        asked.closeAtOnce();
      }
      if (failed || answer != Answer.TIMED_OUT) {
        answered(asked);
      }
      if (failed) {
        discard(channel);
      }
    }
  }

  /** The queue that replies to the request; empty if the channel does. */
  private static String queue(Method request) {
    if (request instanceof Basic.Consume consume) {
      return consume.getQueue();
    }
    if (request instanceof Basic.Get get) {
      return get.getQueue();
    }
    return request instanceof Queue.Declare declare ? declare.getQueue() : "";
  }

  /**
   * Makes the request a user of the channel until its reply arrives, so that the channel is not
   * lent to another user before. False if the loan has ended, or the channel still owes a reply.
   */
  private boolean begin(BorrowedChannel loan, Method request) {
    ConsumerChannel channel = loan.channel();
    if (!join(loan)) {
      return false;
    }
    if (channel.asks(request)) {
      return true;
    }
    leave(channel);
    return false;
  }

  private void cameLate(ConsumerChannel asked, LateAnswer late, Answer came) {
    asked.answered();
    try {
      late.came(came);
    } finally {
      leave(asked);
    }
  }

  private void answered(ConsumerChannel asked) {
    asked.answered();
    leave(asked);
  }

  /** Shares a lent channel, for a request about what it carries; empty if the loan has ended. */
  public Optional<BorrowedChannel> share(BorrowedChannel loan) {
    return join(loan) ? Optional.of(new BorrowedChannel(loan.channel())) : Optional.empty();
  }

  /** Adds a user to a lent channel; false if the loan has ended. */
  private boolean join(BorrowedChannel loan) {
    if (!loan.channel().share()) {
      return false;
    }
    if (loan.isEnded()) {
      // The channel may belong to another user by now.
      leave(loan.channel());
      return false;
    }
    return true;
  }

  /** Ends a loan whose owner has all of its replies. Does nothing if the loan had ended. */
  public void giveBack(BorrowedChannel loan) {
    if (loan.end()) {
      leave(loan.channel());
    }
  }

  /** Removes a user from the channel, which is idle after the last one. */
  private void leave(ConsumerChannel channel) {
    if (!channel.leave()) {
      return;
    }
    if (channel.isOpen()) {
      if (channel.isWornOut()) {
        close(channel);
        return;
      }
      idle.push(channel);
    }
    available.release();
  }

  /**
   * Ends a loan of a channel that must carry nothing else. The broker remembers for each channel
   * what it consumed. If a channel consumed a quorum queue, and later a classic queue declared
   * under the same name, it crashes in the broker and ends the connection (541, seen on 3.10 and
   * 4.3). The channel is closed as soon as it has answered once more.
   */
  public void discard(BorrowedChannel loan) {
    if (!loan.isEnded()) {
      loan.channel().wearOut();
      giveBack(loan);
    }
  }

  /** As {@link #discard}, for a caller whose last request the channel has just answered. */
  public void discardAnswered(BorrowedChannel loan) {
    if (!loan.isEnded()) {
      loan.channel().closeAtOnce();
    }
    discard(loan);
  }

  /**
   * Records that the broker carried out what was sent on this connection at the given time,
   * although that has no reply: a message that was requeued has come again.
   */
  public void carriedOut(long sentAt) {
    Answer unused = rpc.answered(sentAt, Answer.OK);
  }

  /** The time by which replies are dated. */
  public long nanos() {
    return rpc.nanos();
  }

  /**
   * The channels for separate requests about a queue; their replies prove the connection as well.
   */
  public RpcChannelPool rpc() {
    return rpc;
  }

  /**
   * Whoever waits for a channel at the bound does not wait for the close. So there may be
   * more channels than the bound until the close is answered. The connection has room for them.
   */
  private void close(ConsumerChannel channel) {
    available.release();
    Channel closed = channel.getChannel();
    if (channel.isClosedAtOnce()) {
      background.execute(
          () -> {
            ChannelCloser.close(closed);
            openSpare();
          });
    } else {
      ChannelCloser.closeWhenAnswered(closed, background, this::openSpare);
    }
  }

  /**
   * Opens a channel for the next user, who then does not wait until one is open. Two are enough: a
   * write lock needs as many. None is opened near the bound, where it would be in the way.
   */
  private void openSpare() {
    boolean isNeeded =
        idle.stream().limit(2).count() < 2 && available.availablePermits() > spare + most / 2;
    if (!isNeeded || !opening.compareAndSet(false, true)) {
      return;
    }
    Channel opened = null;
    boolean kept = false;
    try {
      opened = rpc.openChannel();
      if (opened != null) {
        opened.basicQos(1);
        idle.push(new ConsumerChannel(opened));
        kept = true;
      }
    } catch (IOException | ShutdownSignalException e) {
      log.debug("No spare channel: {}", e.getMessage());
    } finally {
      opening.set(false);
      if (opened != null && !kept) {
        ChannelCloser.closeWhenAnswered(opened, background, () -> {});
      }
    }
  }
}
