package io.amqplocks.internal.probe;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.session.BrokerErrors;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.PublishingConnection;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;

/**
 * Channels that wait for their next question; a channel is set up once and serves many. Who borrows one
 * gives it back when all of its answers have come, and never before: no late answer is then taken for
 * another's (trap 6).
 *
 * <p>Concurrency: whoever takes a channel out of the queue has it alone. Channels of two sessions may
 * wait here at once, while one follows the other; each is lent only to those who ask by its connection.
 *
 * @param <C> a channel with what it was set up with
 */
final class IdleChannels<C> {

  private final Queue<C> idle = new ConcurrentLinkedQueue<>();
  private final Function<C, Channel> channel;
  private final Setup<C> setup;

  /** Makes a new channel ready for questions. */
  @FunctionalInterface
  interface Setup<C> {
    C of(Channel channel) throws IOException;
  }

  IdleChannels(Function<C, Channel> channel, Setup<C> setup) {
    this.channel = channel;
    this.setup = setup;
  }

  C borrow(Call call, PublishingConnection prober) {
    idle.removeIf(each -> !channel.apply(each).isOpen());
    for (C each : List.copyOf(idle)) {
      // Of those who find the same one, the one who takes it out has it.
      if (prober.carries(channel.apply(each)) && idle.remove(each)) {
        return each;
      }
    }
    return open(call, prober);
  }

  private C open(Call call, PublishingConnection prober) {
    Channel opened = prober.open(call);
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
