package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Looking for slots while the broker is tidying up after one who held many queues. */
@BrokerTest(everyLine = true)
class DeadHolderSlotTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Tag("defect-L7")
  @Test
  void aSlotWhoseHolderJustDiedIsLookedForAgain(Broker broker) throws Exception {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "s", 1);
    locks.slotSemaphore("s").tryAcquire().orElseThrow().close();
    String holder = fixture.names().holder(LockName.of("s"), 1);
    AtomicInteger asked = new AtomicInteger();
    for (int round = 0; round < 5; round++) {
      Connection owner = fixture.stranger();
      Channel channel = owner.createChannel();
      channel.queueDeclare(holder, false, true, false, null);
      for (int i = 0; i < 100; i++) {
        channel.queueDeclare(
            fixture.prefix() + "other-" + round + "-" + i, false, true, false, null);
      }
      assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
      owner.abort(1);
      // Whatever it says until then, it is not that a node may be down.
      await()
          .pollInterval(Duration.ofMillis(1))
          .until(
              () -> {
                asked.incrementAndGet();
                Optional<Lease> lease = locks.slotSemaphore("s").tryAcquire();
                lease.ifPresent(Lease::close);
                return lease.isPresent();
              });
    }
    System.out.printf("RabbitMQ %s: asked %d times%n", broker.version(), asked.get());
  }
}
