package io.amqplocks.internal.slots.probe;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

/**
 * A pool of channels that are idle between requests. A channel is set up once and serves many
 * requests. A borrower gives it back when all of its answers have arrived, and never before. So no
 * late answer is taken for the answer to another request (trap 6).
 *
 * <p>Concurrency: the thread that removes a channel from the queue has it alone. When one session
 * follows another, channels of both may be idle here at once. Each is lent only to callers that use
 * its connection.
 *
 * @param <C> a channel, with what was set up on it
 */
final class IdleChannels<C> {

  private final Queue<C> idle = new ConcurrentLinkedQueue<>();
  private final Function<C, Channel> channel;
  private final Setup<C> setup;

  /** Sets up a new channel. */
  @FunctionalInterface
  interface Setup<C> {
    C of(Channel channel) throws IOException;
  }

  IdleChannels(Function<C, Channel> channel, Setup<C> setup) {
    this.channel = channel;
    this.setup = setup;
  }

  C borrow(Call call, AuxiliaryConnection prober) {
    idle.removeIf(each -> !channel.apply(each).isOpen());
    for (C each : List.copyOf(idle)) {
      // Several threads may find the same channel. The one that removes it has it. One that the
      // broker closed may have been given back just now.
      if (prober.carries(channel.apply(each))
          && idle.remove(each)
          && channel.apply(each).isOpen()) {
        return each;
      }
    }
    return open(call, prober);
  }

  private C open(Call call, AuxiliaryConnection prober) {
    Channel opened = prober.openChannel(call);
    try {
      return setup.of(opened);
    } catch (IOException | ShutdownSignalException e) {
      throw BrokerErrors.calling(call, "set a channel up", e);
    }
  }

  void giveBack(C lent) {
    idle.add(lent);
  }
}
