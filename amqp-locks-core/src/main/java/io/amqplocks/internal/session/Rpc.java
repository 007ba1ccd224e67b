package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One method and its answer, on a channel that the caller has to itself. An answer that comes too late
 * is for the one who asked, and nobody may use the channel before (trap 6).
 */
final class Rpc {

  private static final Logger log = LoggerFactory.getLogger(Rpc.class);

  private Rpc() {}

  /** Looks at an answer, in time or late, before the channel serves another call. */
  @FunctionalInterface
  interface Reading {
    /** Nothing to look at. */
    Reading NOTHING = (channel, answer) -> {};

    void of(Channel channel, Command answer) throws IOException;
  }

  /** What to do with an answer that came too late; NONE if the channel broke instead. */
  @FunctionalInterface
  interface LateAnswer {
    /** Nothing to do. */
    LateAnswer IGNORED = answer -> {};

    void came(Answer answer);
  }

  /**
   * Sends the method and waits for its answer within the call's bound.
   *
   * @param reading sees an answer that says more than yes
   * @param late is called in the background if this returns {@link Answer#NONE}, once the answer came
   *     or the channel is gone
   */
  static Answer ask(
      Channel channel,
      Call call,
      String step,
      Method method,
      Reading reading,
      Executor background,
      LateAnswer late) {
    try {
      CompletableFuture<Command> reply = channel.asyncCompletableRpc(method);
      try {
        reading.of(channel, Futures.await(reply, call.remainingNanos()));
        return Answer.OK;
      } catch (TimeoutException e) {
        var unused =
            reply.whenCompleteAsync(
                (answer, failure) -> late.came(settle(channel, answer, failure, reading)),
                background);
        return Answer.NONE;
      } catch (ExecutionException e) {
        Answer expected = BrokerErrors.expected(e);
        if (expected == null) {
          throw BrokerErrors.calling(call, step, e);
        }
        return expected;
      }
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, step, e);
    }
  }

  private static Answer settle(
      Channel channel, @Nullable Command reply, @Nullable Throwable failure, Reading reading) {
    if (reply != null) {
      try {
        reading.of(channel, reply);
      } catch (IOException | ShutdownSignalException e) {
        log.debug("A late answer met a broken channel: {}", BrokerErrors.text(e));
      }
    }
    Answer answer = failure == null ? Answer.OK : BrokerErrors.expected(failure);
    return answer == null ? Answer.NONE : answer;
  }
}
