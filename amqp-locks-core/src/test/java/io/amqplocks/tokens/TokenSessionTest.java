package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@BrokerTest(everyLine = true)
class TokenSessionTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Tag("issue-11")
  @Test
  void itsEndShowsInTheStatusThoughTheOtherSessionGoesOn(Broker broker) throws Exception {
    String name = fixture.prefix() + "app";
    AmqpLocks locks = fixture.open(fixture.builder().connectionName(name));
    AmqpLock lock = locks.fencedMutex("m");
    Lease mutex = locks.mutex("m").tryAcquire().orElseThrow();
    Lease token = lock.acquire(Duration.ofSeconds(20));
    assertThat(locks.status().session()).isEqualTo(LocksStatus.Session.OPEN);
    broker.faults().closeConnections(name + " quorum holder", "test");
    await().until(() -> token.state() == LeaseState.LOST);
    assertThat(locks.status().session()).isEqualTo(LocksStatus.Session.ENDED);
    assertThat(mutex.verify()).isEqualTo(LeaseState.HELD);
    lock.acquire(Duration.ofSeconds(20)).close();
    assertThat(locks.status().session()).isEqualTo(LocksStatus.Session.OPEN);
    locks.admin().fencedMutex("m").destroy();
  }
}
