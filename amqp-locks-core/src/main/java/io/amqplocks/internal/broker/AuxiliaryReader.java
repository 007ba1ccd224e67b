package io.amqplocks.internal.broker;

import com.rabbitmq.client.AMQP.Basic.Get;
import com.rabbitmq.client.AMQP.Basic.GetOk;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.MessageReading.Outcome;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the auxiliary queues of locks: the counters of fences and the records of token semaphores.
 * A counter is a quorum queue with one message, whose returns the broker counts. To read a counter
 * is to take the message and to put it back at once. So each reading is higher than all before it.
 *
 * <p>Concurrency: a reader has the channel to itself until the message is on its way back, even if
 * the reply arrives after the reader has left. If the channel breaks in between, the broker puts
 * the message back. So no message stays out longer than its reader lives. A reader of several
 * messages sends one request after the other, each separately, because no channel is used again
 * with a reply outstanding (ADR 2).
 */
public final class AuxiliaryReader {

  private static final Logger log = LoggerFactory.getLogger(AuxiliaryReader.class);

  /** Our clients never leave more than a few messages; a stranger may. */
  private static final int MOST_COPIES = 20;

  private final AuxiliaryConnection side;

  public AuxiliaryReader(AuxiliaryConnection side) {
    this.side = side;
  }

  /** Reads the counter, which increments it. */
  public MessageReading read(Call call, String queue) {
    String step = "read counter " + queue;
    AtomicReference<MessageReading> reading = new AtomicReference<>(MessageReading.EMPTY);
    Answer answer =
        side.open(call)
            .rpc()
            .askUnlessOverdue(
                call,
                step,
                new Get.Builder().queue(queue).build(),
                queue,
                (channel, reply) -> reading.set(putBack(channel, reply)));
    return switch (answer) {
      case OK -> reading.get();
      case ABSENT -> MessageReading.ABSENT;
      default ->
          throw new LockException.Unexpected(
              "Queue %s is no counter: RabbitMQ lets nobody read it".formatted(queue), null);
    };
  }

  public static MessageReading putBack(Channel channel, Command reply) throws IOException {
    Delivery message = Delivery.got(channel, reply);
    if (message == null) {
      return MessageReading.EMPTY;
    }
    message.putBack();
    return new MessageReading(
        Outcome.READ,
        message.content(),
        message.returns(),
        ((GetOk) reply.getMethod()).getMessageCount());
  }

  /** Whether the queue exists. */
  public boolean exists(Call call, String queue) {
    return side.open(call).rpc().lookUnlessOverdue(call, queue).exists();
  }

  /** The number of ready messages; empty if there is no such queue. */
  public OptionalInt ready(Call call, String queue) {
    QueueState state = side.open(call).rpc().lookUnlessOverdue(call, queue);
    return state.exists() ? OptionalInt.of(state.messages()) : OptionalInt.empty();
  }

  /** What the broker can do that the reader is connected to. */
  public BrokerProfile broker(Call call) {
    return BrokerProfile.of(side.open(call).connection());
  }

  /**
   * Takes the few messages of a queue, and puts them back.
   *
   * @return their texts, an empty list if another reader has them just now; empty if there is no
   *     such queue
   */
  public Optional<List<String>> readAll(Call call, String queue) {
    if (broker(call).isConnectionClosedByGet() && !exists(call, queue)) {
      return Optional.empty();
    }
    String step = "read queue " + queue;
    Get get = new Get.Builder().queue(queue).build();
    List<String> texts = new ArrayList<>();
    try (ReadersHand hand = new ReadersHand()) {
      while (texts.size() < MOST_COPIES) {
        AtomicReference<@Nullable GetOk> got = new AtomicReference<>();
        AtomicReference<String> text = new AtomicReference<>("");
        Answer answer =
            side.open(call)
                .rpc()
                .askUnlessOverdue(
                    call,
                    step,
                    get,
                    queue,
                    (channel, reply) -> {
                      Delivery message = Delivery.got(channel, reply);
                      if (message != null) {
                        text.set(message.content());
                        got.set((GetOk) reply.getMethod());
                        hand.take(message);
                      }
                    });
        if (answer != Answer.OK) {
          return refused(call, step, answer);
        }
        GetOk last = got.get();
        if (last == null) {
          break;
        }
        texts.add(text.get());
        // More than one message exists only between two steps of an administrator.
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
      default ->
          throw new LockException.Unexpected(
              "RabbitMQ lets nobody %s for %s".formatted(step, call.lock()), null);
    };
  }

  /**
   * Unacknowledged messages of a reader. Each is on the channel that it came on, which serves other
   * calls in the meantime.
   *
   * <p>Concurrency: a message that arrives after the reader has left goes back at once. Only the
   * thread that removes a message from the queue of held messages puts it back, so each goes back
   * once.
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
          // The broker requeued it when its channel closed.
          log.debug("A message was not put back, its channel is gone: {}", e.getMessage());
        }
      }
    }
  }
}
