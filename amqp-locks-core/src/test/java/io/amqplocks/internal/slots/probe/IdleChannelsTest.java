package io.amqplocks.internal.slots.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

@BrokerTest
class IdleChannelsTest {

  /** Its batch was answered by closing it, and whoever waited for that came first. */
  @Test
  void oneThatTurnsOutToBeClosedIsNotLent(Broker broker) throws Exception {
    AtomicInteger looks = new AtomicInteger();
    IdleChannels<Channel> channels =
        new IdleChannels<>(
            channel -> {
              if (looks.incrementAndGet() == 2) {
                close(channel);
              }
              return channel;
            },
            channel -> channel);
    try (ProberSession session =
        new ProberSession(broker.connectionFactory(), "idle-channels-", Duration.ofSeconds(10))) {
      Channel first = channels.borrow(session.call(), session.prober());
      channels.giveBack(first);
      Channel second = channels.borrow(session.call(), session.prober());
      assertThat(first.isOpen()).isFalse();
      assertThat(second.isOpen()).isTrue();
      channels.giveBack(second);
      assertThat(channels.borrow(session.call(), session.prober())).isSameAs(second);
    }
  }

  private static void close(Channel channel) {
    try {
      channel.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
