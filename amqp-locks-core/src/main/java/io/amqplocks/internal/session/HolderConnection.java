package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The connection that owns the exclusive queues. It never publishes: a memory or disk alarm stops a
 * publishing connection whole, and release and verification must not stop (trap 4).
 *
 * <p>Concurrency: a channel serves one call at a time, and is lent to that call. A refusal (404, 405)
 * closes the channel and costs no more than that. When an answer is overdue, the channel stays lent
 * until that very answer has come, so a late answer is never taken for the next one's (trap 6); with
 * the connection every outstanding answer fails, so none is waited for in vain.
 */
final class HolderConnection {

  private final Connection connection;
  private final Executor background;
  private final Deque<Channel> idle = new ConcurrentLinkedDeque<>();

  HolderConnection(Connection connection, Executor background) {
    this.connection = connection;
    this.background = background;
  }

  /** What to do with an answer that came too late; the channel is clean again, or closed. */
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
    Channel channel = borrow(call, step);
    CompletableFuture<Command> reply;
    try {
      reply = channel.asyncCompletableRpc(method);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
    try {
      Futures.await(reply, call.remainingNanos());
      idle.push(channel);
      return Answer.OK;
    } catch (TimeoutException e) {
      var unused =
          reply.whenCompleteAsync((answer, failure) -> settle(channel, failure, late), background);
      return Answer.NONE;
    } catch (ExecutionException e) {
      Answer expected = BrokerErrors.expected(e);
      if (expected == null) {
        throw BrokerErrors.calling(call, step, e);
      }
      return expected;
    }
  }

  private void settle(Channel channel, @Nullable Throwable failure, LateAnswer late) {
    if (failure == null) {
      idle.push(channel);
    }
    Answer answer = failure == null ? Answer.OK : BrokerErrors.expected(failure);
    late.came(answer == null ? Answer.NONE : answer);
  }

  private Channel borrow(Call call, String step) {
    for (Channel channel = idle.poll(); channel != null; channel = idle.poll()) {
      if (channel.isOpen()) {
        return channel;
      }
    }
    return open(call, step);
  }

  /** A new channel of this connection. */
  Channel open(Call call, String step) {
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw new LockException.Unexpected(
            "All %d channels of the connection are in use; cannot %s for %s"
                .formatted(connection.getChannelMax(), step, call.lock()),
            null);
      }
      return channel;
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }
}
