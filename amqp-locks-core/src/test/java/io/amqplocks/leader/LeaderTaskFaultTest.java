package io.amqplocks.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The task of a leader whose term ends without its doing. */
@BrokerTest(everyLine = true)
class LeaderTaskFaultTest {

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration HEARTBEAT = Duration.ofSeconds(2);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<String> events = new CopyOnWriteArrayList<>();
  private final CompletableFuture<Leadership> first = new CompletableFuture<>();
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final List<LeaderElection> elections = new ArrayList<>();

  /** The first term, whose task has begun. On a machine that stalls it may have ended since. */
  private Leadership leads(AmqpLocks locks) throws Exception {
    LeaderElection election =
        LeaderElection.on(locks.mutex("m"))
            .task(this::work)
            // The task takes longer than that, and its lock is released meanwhile.
            .grace(Duration.ofMillis(200))
            .build();
    elections.add(election);
    election.start();
    return first.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    mayEnd.countDown();
    elections.forEach(LeaderElection::close);
  }

  /** Is interrupted, and takes its time to end. */
  private void work(Leadership term) throws InterruptedException {
    events.add("begins");
    first.complete(term);
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      events.add("interrupted");
      mayEnd.await();
      events.add("ends");
    }
  }

  /** The broker would grant it another term: somebody else gets the lock, and gives it back. */
  private void theNextTaskBeginsAfterTheLastOneHasEnded() {
    Fixture.first(fixture.open().mutex("m")).close();
    await().during(Duration.ofSeconds(2)).until(() -> events.size() == 2);
    assertThat(events).containsExactly("begins", "interrupted");
    mayEnd.countDown();
    await().atMost(LONG).until(() -> events.size() >= 4);
    assertThat(events).startsWith("begins", "interrupted", "ends", "begins");
  }

  @Test
  void aLossInterruptsTheTask() throws Exception {
    Leadership term = leads(fixture.open(fixture.seldomVerifying()));
    fixture.delete(fixture.names().mutex(LockName.of("m")));
    await().until(() -> events.contains("interrupted"));
    assertThat(term.isCurrent()).isFalse();
    assertThat(term.revocation().orElseThrow().cause()).isEqualTo(Cause.LOST);
    theNextTaskBeginsAfterTheLastOneHasEnded();
  }

  @Test
  void aDoubtInterruptsTheTask() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(fixture.broker())) {
      ConnectionFactory factory = fixture.broker().connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      Leadership term =
          leads(fixture.open(fixture.builder(factory).heartbeat(HEARTBEAT).callTimeout(HEARTBEAT)));
      proxy.blackHole(Direction.BOTH);
      await().until(() -> events.contains("interrupted"));
      assertThat(term.isCurrent()).isFalse();
      assertThat(term.revocation().orElseThrow().cause()).isIn(Cause.UNCERTAIN, Cause.LOST);
      proxy.heal();
      proxy.reset();
      theNextTaskBeginsAfterTheLastOneHasEnded();
    }
  }
}
