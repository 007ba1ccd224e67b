package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.session.Rpc.Reading;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channels of a session that carry consumers and messages, one each, kept open for the next one.
 *
 * <p>Concurrency: a channel is lent from the first request of what it carries to the answer of the last
 * one, however late that comes, so a late answer is never taken for the next one's (trap 6). For the same
 * reason none is closed from this side before that: the client would give its number away while answers
 * are still under way. A semaphore bounds how many are lent. The last one given back is lent first: what
 * its last user left for the broker to do is done before what the next one asks.
 */
final class DeliveryChannels {

  private static final Logger log = LoggerFactory.getLogger(DeliveryChannels.class);

  private static final Method ONE_AT_A_TIME = new Basic.Qos.Builder().prefetchCount(1).build();

  /** What a broker allows by default, where it sets no bound of its own. */
  private static final int USUAL = 2047;

  private final Connection connection;
  private final QuestionChannels questions;
  private final Executor background;
  private final int most;
  private final int spare;
  private final Semaphore lendable;
  private final Deque<DeliveryChannel> idle = new ConcurrentLinkedDeque<>();

  DeliveryChannels(Connection connection, QuestionChannels questions, Executor background) {
    this.connection = connection;
    this.questions = questions;
    this.background = background;
    int allowed = connection.getChannelMax() == 0 ? USUAL : connection.getChannelMax();
    // The rest is left to all other calls, for releases above all.
    most = Math.max(1, allowed * 3 / 4);
    spare = Math.max(1, allowed / 16);
    lendable = new Semaphore(most + spare);
  }

  /** A channel that carries nothing yet. Does not wait for one: they may be lent for hours. */
  Loan lend(Call call, String step) {
    return lend(call, step, spare);
  }

  /**
   * The same for who gives another back soon: there are some for that when no more are lent otherwise, or
   * many holders could not be verified.
   */
  Loan lendInExchange(Call call, String step) {
    return lend(call, step, 0);
  }

  private Loan lend(Call call, String step, int left) {
    if (lendable.availablePermits() <= left || !lendable.tryAcquire()) {
      throw new LockException.Unanswered(
          "Cannot %s for %s now: %d channels of the connection carry a held lock or a waiter each, and no more may"
                  .formatted(step, call.lock(), most)
              + "; release some, raise the broker's channel_max, or use a second AmqpLocks");
    }
    for (DeliveryChannel each = idle.poll(); each != null; each = idle.poll()) {
      if (each.isOpen()) {
        return new Loan(each.lend());
      }
    }
    return open(call, step);
  }

  private Loan open(Call call, String step) {
    Loan opened = null;
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw call.noChannel(step);
      }
      opened = new Loan(new DeliveryChannel(channel).lend());
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    } finally {
      if (opened == null) {
        lendable.release();
      }
    }
    Loan loan = opened;
    if (ask(call, step, loan, ONE_AT_A_TIME, Reading.NOTHING, late -> giveBack(loan))
        == Answer.NONE) {
      throw call.unanswered(step);
    }
    return loan;
  }

  /**
   * Asks on a lent channel, as {@link Rpc#ask}. If this throws, the channel is of no more use and was
   * given back; if it answers NONE, {@code late} must give it back. Does not ask on a channel that was
   * given back in the meantime, or owes another answer still: that is NONE, and late, at once.
   */
  Answer ask(
      Call call, String step, Loan channel, Method method, Reading reading, LateAnswer late) {
    Optional<Loan> question = question(channel);
    if (question.isEmpty()) {
      late.came(Answer.NONE);
      return Answer.NONE;
    }
    Answer answer = Answer.NONE;
    boolean failed = true;
    try {
      long sentAt = questions.nanos();
      answer =
          Rpc.ask(
              channel.getChannel(),
              call,
              step,
              method,
              reading,
              background,
              came -> cameLate(question.get(), late, came));
      failed = false;
      return answer == Answer.NONE ? answer : questions.answered(sentAt, answer);
    } finally {
      if (failed || answer != Answer.NONE) {
        answered(question.get());
      }
      if (failed) {
        // It may wait for an answer to what was never sent.
        discard(channel);
      }
    }
  }

  /** A share that lasts until the answer is here, so that the channel is not lent to another before. */
  private Optional<Loan> question(Loan channel) {
    Optional<Loan> question = share(channel);
    if (question.isPresent() && !channel.lent().asks()) {
      giveBack(question.get());
      return Optional.empty();
    }
    return question;
  }

  private void cameLate(Loan question, LateAnswer late, Answer came) {
    question.lent().answered();
    try {
      late.came(came);
    } finally {
      giveBack(question);
    }
  }

  private void answered(Loan question) {
    question.lent().answered();
    giveBack(question);
  }

  /** One more loan of the same channel, to ask about what it carries; empty if that one has ended. */
  Optional<Loan> share(Loan loan) {
    if (!loan.lent().share()) {
      return Optional.empty();
    }
    Loan shared = new Loan(loan.lent());
    if (loan.isEnded()) {
      // The channel may be another's by now.
      giveBack(shared);
      return Optional.empty();
    }
    return Optional.of(shared);
  }

  /** The owner of this loan has all of its answers. Does nothing if it was given back before. */
  void giveBack(Loan loan) {
    DeliveryChannel channel = loan.lent();
    if (!loan.end() || !channel.leave()) {
      return;
    }
    if (channel.isOpen()) {
      if (channel.isWornOut()) {
        close(channel);
        return;
      }
      idle.push(channel);
    }
    lendable.release();
  }

  /**
   * The same for a channel that must carry nothing else. The broker remembers for each channel what it
   * consumed; one that consumed a quorum queue, and then a classic queue declared under the same name
   * later, crashes in the broker and takes the connection along (541, seen on 3.10 and 4.3).
   */
  void discard(Loan loan) {
    if (!loan.isEnded()) {
      loan.lent().wearOut();
      giveBack(loan);
    }
  }

  /** The time by which answers are dated. */
  long nanos() {
    return questions.nanos();
  }

  /** Where the queue is asked for on the side; as good as any other sign of life. */
  QuestionChannels questions() {
    return questions;
  }

  private void close(DeliveryChannel channel) {
    background.execute(
        () -> {
          try {
            channel.getChannel().abort();
          } catch (IOException | ShutdownSignalException e) {
            log.debug("Channel of a consumer not closed: {}", e.getMessage());
          } finally {
            lendable.release();
          }
        });
  }
}
