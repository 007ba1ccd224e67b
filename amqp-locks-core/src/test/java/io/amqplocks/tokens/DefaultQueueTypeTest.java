package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.TokenNaming;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A virtual host may decide of what type the queues are that are declared without one. The plain
 * protocol declares its queue without arguments. A mutex has a queue whose type it names.
 */
@Tag("one-jdk")
class DefaultQueueTypeTest {

  private static final String LINE = "4.3";

  /** Not the library's own words, which may change by mistake. */
  private static final Map<String, Object> AS_IT_IS =
      Map.of(
          "x-queue-type",
          "classic",
          "x-single-active-consumer",
          true,
          "x-max-length",
          1,
          "x-overflow",
          "reject-publish",
          "x-expires",
          60_000);

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

  @Test
  void theQueueOfAMutexIsClassicAllTheSame() throws Exception {
    assumeTrue(Brokers.has(LINE));
    try (OwnedBroker broker = Brokers.start(LINE);
        Fixture fixture = new Fixture(broker)) {
      broker.faults().setDefaultQueueType("quorum");
      try (Lease lease = fixture.open().mutex("m").acquire(Duration.ofSeconds(30));
          Connection stranger = fixture.stranger()) {
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        assertThat(fixture.open().mutex("m").tryAcquire()).isEmpty();
        String queue = fixture.names().mutex(LockName.of("m"));
        // A broker refuses whoever declares a queue as another one than it is.
        Channel channel = stranger.createChannel();
        // The consumer of the client that tried goes a moment later.
        await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () ->
                    channel.queueDeclare(queue, true, false, false, AS_IT_IS).getConsumerCount()
                        == 1);
      }
    }
  }
}
