package io.amqplocks.internal.wakeup;

import com.rabbitmq.client.AMQP.Basic;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.ConsumerChannelPool;
import io.amqplocks.internal.broker.Rpc.Reading;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.broker.SharedFailure;
import io.amqplocks.internal.broker.SingleFlight;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies waiting processes of released slots, by a message in a queue from which all waiters
 * consume. The message goes to one of the clients that wait at that moment, in turns. If nobody
 * waits, it is dropped. Nothing relies on this notification: it is not confirmed, an alarm of the
 * broker stops it, and a holder that dies sends none. So waiters also look for a free slot by
 * themselves now and then.
 *
 * <p>Concurrency: all notifications are published on one channel, which the client library guards.
 * A caller that finds it broken has another one opened in the background.
 */
public final class WakeQueues {

  private static final Logger log = LoggerFactory.getLogger(WakeQueues.class);

  private static final PerSession<WakeQueues> SESSIONS = new PerSession<>(WakeQueues::new);

  private static final BasicProperties NOW_OR_NEVER =
      new BasicProperties.Builder().expiration("0").deliveryMode(1).build();

  private final BrokerProfile broker;
  private final AuxiliaryConnection side;
  private final AuxiliaryConnection announcer;
  private final Executor background;
  private final Duration callTimeout;
  private final AtomicLong lastTag = new AtomicLong();
  private final String sender = UUID.randomUUID().toString().substring(0, 8);
  private final WaiterPresence presence = new WaiterPresence();
  private final SingleFlight<Channel> publishing;
  private final String virtualHost;
  private final ConcurrentMap<Connection, QueueDeletedEvents> events = new ConcurrentHashMap<>();

  /** The wake queues of that session. */
  public static WakeQueues of(Session session) {
    return SESSIONS.of(session);
  }

  private WakeQueues(Session session) {
    broker = session.broker();
    side = session.side();
    announcer = session.announcer();
    publishing = announcer.shared();
    background = session.background();
    callTimeout = session.callTimeout();
    virtualHost = session.virtualHost();
  }

  /**
   * Subscribes to notifications. The caller closes the result.
   *
   * @param holders which queues belong to holders of the lock; if one of these holders dies, a
   *     notification comes as well, where the broker publishes such events
   * @param wake is called when a notification arrives, or when no more will arrive; must not block
   */
  public WakeSubscription listen(
      Call call, String queue, Predicate<String> holders, Runnable wake) {
    AuxiliaryConnection.Life life = side.open(call);
    declare(call, life.rpc(), queue);
    String step = "consume from queue " + queue;
    ConsumerChannelPool channels = life.consumerChannels();
    BorrowedChannel channel = channels.borrow(call, step, queue);
    WakeSubscription wakeup =
        new WakeSubscription(
            call.lock(),
            queue,
            "wake-" + lastTag.incrementAndGet(),
            channel,
            channels,
            QueueDeletedEvents.of(life.connection(), virtualHost, events),
            wake,
            this);
    channel.listen(wakeup);
    Method consume = new Basic.Consume.Builder().queue(queue).consumerTag(wakeup.tag()).build();
    Answer answer =
        channels.ask(call, step, channel, consume, Reading.NOTHING, late -> wakeup.close());
    if (answer == Answer.OK) {
      QueueDeletedEvents events = wakeup.events();
      events.listen(wakeup, holders);
      if (!events.isBegun()) {
        String own = queue + ".events-" + UUID.randomUUID().toString().substring(0, 8);
        background.execute(() -> events.begin(own));
      }
      return wakeup;
    }
    if (answer == Answer.TIMED_OUT) {
      wakeup.abandon();
      throw call.unanswered(step);
    }
    channels.giveBack(channel);
    throw new LockException.Unexpected(
        "Nobody can wait for %s by queue %s: it is %s; delete it"
            .formatted(call.lock(), queue, answer),
        null);
  }

  private void declare(Call call, RpcChannelPool rpc, String queue) {
    // A queue that belongs to somebody else is found by the consume.
    Answer unused = rpc.askUnlessOverdue(call, "declare queue " + queue, broker.wake(queue), queue);
  }

  /**
   * Notifies one of the waiters. Does not wait, and never throws.
   *
   * @param untold is called if nobody will be notified, at once or when that is known; must not
   *     block
   */
  public void tell(LockId lock, String queue, Runnable untold) {
    Channel open = publishing.ifOpen().orElse(null);
    if (open == null) {
      background.execute(() -> tellLater(lock, queue, untold));
    } else if (announcer.blocked().isDone() || !publish(open, queue)) {
      untold.run();
    }
  }

  private void tellLater(LockId lock, String queue, Runnable untold) {
    Call call = Call.on(lock, callTimeout, Ticker.SYSTEM);
    boolean told = false;
    try {
      told = publish(publishing.get(call, this::open), queue);
    } catch (LockException e) {
      log.debug("Nobody is told by queue {}: {}", queue, e.getMessage());
    }
    if (!told) {
      untold.run();
    }
  }

  private Channel open() throws SharedFailure {
    Channel channel = announcer.openShared();
    channel.addReturnListener(returned -> presence.returned(returned.getRoutingKey()));
    return channel;
  }

  /** Whether a notification of that content was sent by this session. */
  boolean isOurs(String content) {
    return content.equals(sender);
  }

  /**
   * Whether somebody waits for notifications of that queue, as far as earlier notifications can
   * show.
   */
  public boolean isHeard(String queue) {
    return presence.isHeard(queue);
  }

  private boolean publish(Channel channel, String queue) {
    announcer.keepOpen();
    try {
      presence.notified(queue);
      channel.basicPublish("", queue, true, NOW_OR_NEVER, sender.getBytes(StandardCharsets.UTF_8));
      return true;
    } catch (IOException | ShutdownSignalException e) {
      log.debug("Nobody was told by queue {}: {}", queue, BrokerErrors.text(e));
      return false;
    }
  }
}
