package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.session.Rpc.Reading;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How processes that give slots back tell processes that wait for one: by a message in a queue on which
 * all who wait consume. It is for whoever waits at that moment, one of them, in turns; if nobody does, it
 * is gone. It is a courtesy that nothing relies on: it is not confirmed, an alarm of the broker stops it,
 * and a holder that dies says nothing. So those who wait also look for themselves now and then.
 *
 * <p>Concurrency: all words are published on one channel, which the client library guards; who finds it
 * broken has another opened in the background.
 */
public final class WakeQueues {

  private static final Logger log = LoggerFactory.getLogger(WakeQueues.class);

  private static final BasicProperties NOW_OR_NEVER =
      new BasicProperties.Builder().expiration("0").deliveryMode(1).build();

  private final SideConnection side;
  private final PublishingConnection announcer;
  private final Executor background;
  private final Duration callTimeout;
  private final AtomicLong lastTag = new AtomicLong();
  private final LastWords words = new LastWords();
  private final SingleFlight<Channel> publishing;

  WakeQueues(
      SideConnection side,
      PublishingConnection announcer,
      Executor background,
      Duration callTimeout) {
    this.side = side;
    this.announcer = announcer;
    publishing = announcer.shared();
    this.background = background;
    this.callTimeout = callTimeout;
  }

  /**
   * Begins to wait for word; to be closed.
   *
   * @param holders which queues are holders' of the lock: when one of them dies, word comes as well, where
   *     the broker tells of that
   * @param wake is called when it comes, or when no more will; must not block
   */
  public Wakeup listen(Call call, String queue, Predicate<String> holders, Runnable wake) {
    SideConnection.Life life = side.open(call);
    declare(call, life.questions(), queue);
    String step = "consume from queue " + queue;
    DeliveryChannels channels = life.deliveries();
    Loan channel = channels.lend(call, step);
    Wakeup wakeup =
        new Wakeup(
            call.lock(), queue, "wake-" + lastTag.incrementAndGet(), channel, life, wake, this);
    channel.carry(wakeup);
    Method consume = new Basic.Consume.Builder().queue(queue).consumerTag(wakeup.tag()).build();
    Answer answer =
        channels.ask(call, step, channel, consume, Reading.NOTHING, late -> wakeup.close());
    if (answer == Answer.OK) {
      life.deaths().listen(wakeup, holders);
      if (!life.deaths().isBegun()) {
        String own = queue + ".events-" + UUID.randomUUID().toString().substring(0, 8);
        background.execute(() -> life.deaths().begin(own));
      }
      return wakeup;
    }
    if (answer == Answer.NONE) {
      wakeup.abandon();
      throw call.unanswered(step);
    }
    channels.giveBack(channel);
    throw new LockException.Unexpected(
        "Nobody can wait for %s by queue %s: it is %s; delete it"
            .formatted(call.lock(), queue, answer),
        null);
  }

  private static void declare(Call call, QuestionChannels questions, String queue) {
    String step = "declare queue " + queue;
    Answer answer = questions.ask(call, step, QueueArguments.wake(queue), LateAnswer.IGNORED);
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
  }

  /**
   * Tells one of those who wait there. Does not wait for anything, and never throws.
   *
   * @return false if nobody will be told
   */
  public boolean tell(LockId lock, String queue) {
    Channel open = publishing.ifOpen().orElse(null);
    if (open == null) {
      background.execute(() -> tellLater(lock, queue));
      return true;
    }
    return !announcer.blocked().isDone() && publish(open, queue);
  }

  private void tellLater(LockId lock, String queue) {
    Call call = Call.on(lock, callTimeout, Ticker.SYSTEM);
    try {
      boolean unused = publish(publishing.get(call, () -> open(call)), queue);
    } catch (LockException e) {
      log.debug("Nobody is told by queue {}: {}", queue, e.getMessage());
    }
  }

  private Channel open(Call call) {
    Channel channel = announcer.open(call);
    channel.addReturnListener(returned -> words.cameBack(returned.getRoutingKey()));
    return channel;
  }

  /** Whether somebody waits by that queue, as far as what was said there can tell. */
  public boolean isHeard(String queue) {
    return words.wereHeard(queue);
  }

  private boolean publish(Channel channel, String queue) {
    try {
      words.said(queue);
      channel.basicPublish("", queue, true, NOW_OR_NEVER, new byte[0]);
      return true;
    } catch (IOException | ShutdownSignalException e) {
      log.debug("Nobody was told by queue {}: {}", queue, BrokerErrors.text(e));
      return false;
    }
  }
}
