package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import io.amqplocks.internal.session.CounterReading.Outcome;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The counters of fences: quorum queues of one message each, whose returns the broker counts. To read
 * is to take the message and put it back at once, so each reading is higher than all before it.
 *
 * <p>Concurrency: whoever reads has the channel to itself until the message is on its way back, also
 * when the answer comes after the reader left. If the channel breaks in between, the broker puts the
 * message back. So no message stays out longer than its reader lives.
 */
public final class CounterQueues {

  /** Nobody leaves more than a few; a stranger may. */
  private static final int MOST_COPIES = 20;

  private final SideConnection side;
  private final Connector connector;
  private final Duration callTimeout;

  CounterQueues(SideConnection side, Connector connector, Duration callTimeout) {
    this.side = side;
    this.connector = connector;
    this.callTimeout = callTimeout;
  }

  /** Reads the counter, which then counts one more. */
  public CounterReading read(Call call, String queue) {
    String step = "read counter " + queue;
    AtomicReference<CounterReading> reading = new AtomicReference<>(CounterReading.EMPTY);
    Answer answer =
        side.open(call)
            .questions()
            .ask(
                call,
                step,
                new Get.Builder().queue(queue).build(),
                (channel, reply) -> reading.set(putBack(channel, reply)),
                LateAnswer.IGNORED);
    return switch (answer) {
      case OK -> reading.get();
      case ABSENT -> CounterReading.ABSENT;
      case NONE -> throw call.unanswered(step);
      case LOCKED ->
          throw new LockException.Unexpected(
              "Queue %s is no counter: RabbitMQ lets nobody read it".formatted(queue), null);
    };
  }

  static CounterReading putBack(Channel channel, Command reply) throws IOException {
    if (!(reply.getMethod() instanceof GetOk got)) {
      return CounterReading.EMPTY;
    }
    Delivery message =
        Delivery.of(
            channel,
            got.getDeliveryTag(),
            (BasicProperties) reply.getContentHeader(),
            reply.getContentBody());
    message.putBack();
    return new CounterReading(
        Outcome.READ, message.content(), message.returns(), got.getMessageCount());
  }

  /** Whether the queue is there. */
  public boolean exists(Call call, String queue) {
    String step = "look for queue " + queue;
    Answer answer =
        side.open(call)
            .questions()
            .ask(call, step, QueueArguments.passive(queue), LateAnswer.IGNORED);
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    return answer != Answer.ABSENT;
  }

  /** How many messages wait in the queue; empty if there is none of that name. */
  public OptionalInt ready(Call call, String queue) {
    String step = "look for queue " + queue;
    AtomicInteger ready = new AtomicInteger();
    Answer answer =
        side.open(call)
            .questions()
            .ask(
                call,
                step,
                QueueArguments.passive(queue),
                (channel, reply) -> ready.set(((DeclareOk) reply.getMethod()).getMessageCount()),
                LateAnswer.IGNORED);
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    return answer == Answer.ABSENT ? OptionalInt.empty() : OptionalInt.of(ready.get());
  }

  /** The first number of the broker's version, which tells how it counts. */
  public int brokerMajor(Call call) {
    return CounterKeeper.major(call, Server.of(side.open(call).connection().getServerProperties()));
  }

  /** A connection to make counters by; the caller closes it. */
  public CounterKeeper administrate(Call call) {
    return new CounterKeeper(call, administrator(call));
  }

  /** A connection to make and change tokens by; the caller closes it. */
  public TokenKeeper administrateTokens(Call call) {
    return new TokenKeeper(call, administrator(call));
  }

  private AdministratorConnection administrator(Call call) {
    try {
      return new AdministratorConnection(connector.open("administrator"), callTimeout);
    } catch (IOException | TimeoutException e) {
      throw connector.failure(call, e);
    }
  }

  /**
   * Takes the few messages of a queue into hand, and puts them back.
   *
   * @return what they say: none if another is reading them just now; or empty if there is no such queue
   */
  public Optional<List<String>> readAll(Call call, String queue) {
    String step = "read queue " + queue;
    List<String> texts = new CopyOnWriteArrayList<>();
    Get get = new Get.Builder().queue(queue).build();
    Answer answer =
        side.open(call)
            .questions()
            .ask(
                call,
                step,
                get,
                (channel, reply) -> putAllBack(channel, reply, get, texts),
                LateAnswer.IGNORED);
    return switch (answer) {
      case OK -> Optional.of(List.copyOf(texts));
      case ABSENT -> Optional.empty();
      case NONE -> throw call.unanswered(step);
      case LOCKED ->
          throw new LockException.Unexpected(
              "RabbitMQ lets nobody %s for %s".formatted(step, call.lock()), null);
    };
  }

  /** More than one is there only between two steps of an administrator. */
  private static void putAllBack(Channel channel, Command first, Get get, List<String> texts)
      throws IOException {
    Command reply = first;
    long last = 0;
    while (reply.getMethod() instanceof GetOk got) {
      last = got.getDeliveryTag();
      texts.add(new String(reply.getContentBody(), StandardCharsets.UTF_8));
      if (got.getMessageCount() == 0 || texts.size() == MOST_COPIES) {
        break;
      }
      reply = channel.rpc(get);
    }
    if (last > 0) {
      channel.basicNack(last, true, true);
    }
  }
}
