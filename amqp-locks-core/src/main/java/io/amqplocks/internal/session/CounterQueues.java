package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.CounterReading.Outcome;
import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The counters of fences: quorum queues of one message each, whose returns the broker counts. To read
 * is to take the message and put it back at once, so each reading is higher than all before it.
 *
 * <p>Concurrency: whoever reads has the channel to itself until the message is on its way back, also
 * when the answer comes after the reader left. If the channel breaks in between, the broker puts the
 * message back. So no message stays out longer than its reader lives. Who reads several asks for one after
 * the other, each a question of its own: no channel is used again with an answer outstanding (ADR 2).
 */
public final class CounterQueues {

  private static final Logger log = LoggerFactory.getLogger(CounterQueues.class);

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
    Delivery message = Delivery.got(channel, reply);
    if (message == null) {
      return CounterReading.EMPTY;
    }
    message.putBack();
    return new CounterReading(
        Outcome.READ,
        message.content(),
        message.returns(),
        ((GetOk) reply.getMethod()).getMessageCount());
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
    Get get = new Get.Builder().queue(queue).build();
    List<String> texts = new ArrayList<>();
    try (ReadersHand hand = new ReadersHand()) {
      while (texts.size() < MOST_COPIES) {
        AtomicReference<@Nullable GetOk> got = new AtomicReference<>();
        AtomicReference<String> text = new AtomicReference<>("");
        Answer answer =
            side.open(call)
                .questions()
                .ask(
                    call,
                    step,
                    get,
                    (channel, reply) -> {
                      Delivery message = Delivery.got(channel, reply);
                      if (message != null) {
                        text.set(message.content());
                        got.set((GetOk) reply.getMethod());
                        hand.take(message);
                      }
                    },
                    LateAnswer.IGNORED);
        if (answer != Answer.OK) {
          return refused(call, step, answer);
        }
        GetOk last = got.get();
        if (last == null) {
          break;
        }
        texts.add(text.get());
        // More than one is there only between two steps of an administrator.
        if (last.getMessageCount() == 0) {
          break;
        }
      }
    }
    return Optional.of(List.copyOf(texts));
  }

  private static Optional<List<String>> refused(Call call, String step, Answer answer) {
    return switch (answer) {
      case OK, ABSENT -> Optional.empty();
      case NONE -> throw call.unanswered(step);
      case LOCKED ->
          throw new LockException.Unexpected(
              "RabbitMQ lets nobody %s for %s".formatted(step, call.lock()), null);
    };
  }

  /**
   * Messages in the hand of a reader, each on the channel that it came on, which serves others meanwhile.
   *
   * <p>Concurrency: one that comes after the reader has left goes back at once. Whoever takes a message
   * out of the queue puts it back, so each goes back once.
   */
  private static final class ReadersHand implements AutoCloseable {

    private final Queue<Delivery> held = new ConcurrentLinkedQueue<>();
    private volatile boolean left;

    void take(Delivery message) {
      held.add(message);
      if (left) {
        close();
      }
    }

    @Override
    public void close() {
      left = true;
      for (Delivery message = held.poll(); message != null; message = held.poll()) {
        try {
          message.putBack();
        } catch (IOException | ShutdownSignalException e) {
          // With its channel it went back by itself.
          log.debug("A message was not put back, its channel is gone: {}", e.getMessage());
        }
      }
    }
  }
}
