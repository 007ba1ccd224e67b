package io.amqplocks.internal.broker;

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
 * One request and its reply, on a channel that the caller has to itself. A late reply goes to the
 * caller that sent the request, and the channel must not be used before (trap 6).
 */
public final class Rpc {

  private static final Logger log = LoggerFactory.getLogger(Rpc.class);

  private Rpc() {}

  /** Reads a reply, in time or late, before the channel serves another call. */
  @FunctionalInterface
  public interface Reading {
    /** Ignores the content of the reply. */
    Reading NOTHING = (channel, answer) -> {};

    void of(Channel channel, Command answer) throws IOException;
  }

  /** Handles a reply that arrived too late; TIMED_OUT if the channel broke instead. */
  @FunctionalInterface
  public interface LateAnswer {
    void came(Answer answer);
  }

  /**
   * Sends the method and waits for its reply within the call's bound.
   *
   * @param reading receives a reply that carries more than yes or no
   * @param late is called in the background if this returns {@link Answer#TIMED_OUT}, after the
   *     reply arrived or the channel closed
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
        return Answer.TIMED_OUT;
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
    return answer == null ? Answer.TIMED_OUT : answer;
  }
}
