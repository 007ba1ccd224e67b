package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.TokenNaming;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import org.junit.jupiter.api.Test;

/**
 * The plain protocol declares its queue without arguments, so a virtual host decides of what type
 * it is.
 */
class DefaultQueueTypeTest {

  private static final String LINE = "4.3";

  @Test
  void aVirtualHostThatMakesQuorumQueuesIsRefused() throws Exception {
    assumeTrue(Brokers.has(LINE));
    try (OwnedBroker broker = Brokers.start(LINE);
        Fixture fixture = new Fixture(broker)) {
      broker.faults().setDefaultQueueType("quorum");
      TokenSemaphoreAdmin admin =
          fixture
              .open(fixture.builder().tokenNaming(TokenNaming.blog()))
              .admin()
              .tokenSemaphore("s");
      assertThatThrownBy(() -> admin.create(2, TokenQueueType.CLASSIC))
          .isInstanceOf(LockException.Unexpected.class)
          .hasMessageContaining("default queue type");
      assertThat(Tokens.queues(broker, "")).isEmpty();
    }
  }
}
