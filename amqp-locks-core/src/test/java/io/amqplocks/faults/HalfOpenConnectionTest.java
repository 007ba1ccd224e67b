package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockArgument;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection whose end only the broker sees. */
@BrokerTest(everyLine = true)
class HalfOpenConnectionTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  @Tag("defect-S7")
  @Test
  void isMissedAfterTheTimeThatLeasesAreCertainFor(Broker broker) throws Exception {
    assertThat(heldBesideTheNext(broker, Duration.ofSeconds(10), Duration.ofSeconds(2)))
        // The heartbeat would say so after 17.5 s.
        .isLessThan(Duration.ofSeconds(12));
  }

  /** Its own small requests alone say that it is heard: the first verification comes after 30 s. */
  @Tag("defect-S7")
  @Test
  void aConnectionThatIsHeardKeepsItsLeasesHeld() throws Exception {
    Duration certainFor = Duration.ofSeconds(2);
    Lease lease =
        fixture
            .open(fixture.seldomVerifying().certainFor(certainFor))
            .mutex("m")
            .acquire(Duration.ofSeconds(20));
    // At every look, for longer than one request lasts; a machine that stalls has it looked at
    // anew.
    await()
        .pollInterval(Duration.ofMillis(20))
        .during(certainFor.multipliedBy(2).plusSeconds(1))
        .atMost(Duration.ofSeconds(90))
        .until(() -> lease.state() == LeaseState.HELD);
  }

  /** A client that only waits sends little. What it waited for must not go to the next one. */
  @ParameterizedTest
  @ValueSource(strings = {"mutex:m", "fenced:m", "persistent:m", "write:m"})
  void whoWaitsSilentlyIsServedInItsTurn(String kind) throws Exception {
    // A machine that stalls may have the second one subscribe first, or make the lease uncertain.
    boolean served = false;
    for (int i = 0; i < 3 && !served; i++) {
      served = isServedInItsTurn(kind + i);
    }
    assertThat(served).isTrue();
  }

  private boolean isServedInItsTurn(String name) throws Exception {
    AmqpLocks holder = fixture.open();
    if (name.startsWith("persistent")) {
      holder.admin().persistentMutex(name.substring(name.indexOf(':') + 1)).enable();
    }
    Lease held = LockArgument.lock(holder, name).acquire(Duration.ofSeconds(20));
    AmqpLocks silent = fixture.open(fixture.seldomVerifying().certainFor(Duration.ofSeconds(2)));
    AmqpLocks others = fixture.open();
    CompletableFuture<Lease> first =
        LockArgument.lock(silent, name).acquireAsync(Duration.ofMinutes(1));
    await().until(() -> silent.status().waiting() == 1);
    // By then it has subscribed and looked. Its next request comes 2.5 s after that at least.
    await().pollDelay(Duration.ofMillis(800)).until(() -> true);
    CompletableFuture<Lease> second =
        LockArgument.lock(others, name).acquireAsync(Duration.ofMinutes(1));
    await().pollDelay(Duration.ofMillis(1_500)).until(() -> true);
    held.close();
    Object next = CompletableFuture.anyOf(first, second).get(60, TimeUnit.SECONDS);
    boolean inTurn = next.equals(first.getNow(null));
    (inTurn ? first : second).join().close();
    (inTurn ? second : first).get(60, TimeUnit.SECONDS).close();
    return inTurn;
  }

  @Test
  void aTimeOfCenturiesIsNone() {
    Duration centuries = ChronoUnit.FOREVER.getDuration();
    AmqpLocks locks = fixture.open(fixture.builder().certainFor(centuries));
    assertThat(locks.mutex("m").tryAcquire().orElseThrow().verify()).isEqualTo(LeaseState.HELD);
  }

  private Duration heldBesideTheNext(Broker broker, Duration heartbeat, Duration certainFor)
      throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocksBuilder builder =
          fixture
              .builder(factory)
              .heartbeat(heartbeat)
              .verifyEvery(heartbeat.dividedBy(2))
              .callTimeout(Duration.ofSeconds(2))
              .certainFor(certainFor);
      Lease lease = fixture.connected(builder).mutex("m").acquire(Duration.ofSeconds(20));
      AmqpLocks others = fixture.open();
      others.mutex("n").tryAcquire().orElseThrow().close();
      proxy.resetServerSide();
      long reset = System.nanoTime();
      try (Lease next = others.mutex("m").acquire(Duration.ofSeconds(20))) {
        Duration taken = Duration.ofNanos(System.nanoTime() - reset);
        await().pollInterval(Duration.ofMillis(10)).until(() -> lease.state() != LeaseState.HELD);
        Duration held = Duration.ofNanos(System.nanoTime() - reset);
        System.out.printf(
            "reset at the broker's side, heartbeat %s, certain for %s: taken by another after %d ms,"
                + " HELD here for %d ms%n",
            heartbeat, certainFor, taken.toMillis(), held.toMillis());
        assertThat(next.verify()).isEqualTo(LeaseState.HELD);
        return held;
      }
    }
  }
}
