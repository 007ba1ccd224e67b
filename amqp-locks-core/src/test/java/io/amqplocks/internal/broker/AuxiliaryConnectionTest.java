package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The channel on which several threads publish in turns: the first of them opens it for all. */
@BrokerTest
class AuxiliaryConnectionTest {

  private static final LockId LOCK = LockId.mutex("m");

  private ClockedClient client;
  private AuxiliaryConnection announcer;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(30));
    announcer = client.session().announcer();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aCallerWithoutTimeLeftOpensItForAll() {
    Call over = client.call(LOCK);
    client.pass(over.bound());
    assertThatThrownBy(() -> announcer.openChannel(over)).isInstanceOf(LockException.class);
    assertThat(announcer.openShared(over).isOpen()).isTrue();
  }

  /** An outage would be waited for, and nothing is out. */
  @Test
  void whyItCannotBeOpenedIsToldAsItIs() {
    SingleFlight<Channel> shared = announcer.shared();
    LockException full = client.call(LOCK).noChannel("open a channel");
    assertThatThrownBy(
            () ->
                shared.get(
                    client.call(LOCK),
                    () -> {
                      throw full;
                    }))
        .isInstanceOfSatisfying(
            LockException.Unanswered.class, e -> assertThat(e.isOutage()).isFalse());
  }
}
