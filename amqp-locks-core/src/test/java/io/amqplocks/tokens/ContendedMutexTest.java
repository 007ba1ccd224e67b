package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.SentMethods;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who wants a fenced mutex that was busy lately does not ask for its token before it waits. */
@BrokerTest
class ContendedMutexTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final SentMethods sent = new SentMethods();
  private AmqpLocks ours;

  @BeforeEach
  void open() {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setSocketFactory(sent);
    ours = fixture.open(fixture.seldomVerifying(factory));
  }

  @Test
  void aMutexThatWasBusyIsWaitedForAtOnce() throws Exception {
    AmqpLock lock = ours.fencedMutex("m");
    AmqpLock theirs = fixture.open().fencedMutex("m");
    lock.acquire(LONG).close();

    assertThat(getsOfAWait(lock, theirs)).as("it was idle").isEqualTo(1);
    assertThat(getsOfAWait(lock, theirs)).as("it was busy").isZero();

    // A busy machine may bring an idle token so late that it seems to be a busy one.
    await("it was idle again")
        .until(() -> List.of(getsOf(lock), getsOf(lock)).equals(List.of(1, 1)));

    Lease held = Fixture.first(theirs);
    assertThat(lock.tryAcquire()).isEmpty();
    held.close();
    assertThat(getsOf(lock)).as("a try found it busy").isZero();

    held = Fixture.first(theirs);
    assertThat(lock.tryAcquire()).isEmpty();
    held.close();
    Fixture.first(lock).close();
    assertThat(getsOf(lock)).as("a try found it idle").isEqualTo(1);
  }

  /** Else short waits would time out again and again, before the token could come. */
  @Test
  void aWaitInVainIsFollowedByARequest() throws Exception {
    AmqpLock lock = ours.fencedMutex("m");
    AmqpLock theirs = fixture.open().fencedMutex("m");
    Lease held = Fixture.first(theirs);
    assertThat(lock.tryAcquire()).isEmpty();
    int before = sent.gets();
    assertThatExceptionOfType(LockException.AcquireTimeout.class)
        .isThrownBy(() -> lock.acquire(Duration.ofSeconds(10)));
    assertThat(sent.gets()).as("it was busy").isEqualTo(before);
    held.close();
    assertThat(getsOf(lock)).isEqualTo(1);
  }

  /** One of several tokens is often idle. */
  @Test
  void aSemaphoreIsAskedForEachTime() throws Exception {
    ours.admin().tokenSemaphore("s").create(1, TokenQueueType.QUORUM);
    AmqpLock lock = ours.tokenSemaphore("s");
    AmqpLock theirs = fixture.open().tokenSemaphore("s");
    lock.acquire(LONG).close();
    for (int i = 0; i < 2; i++) {
      assertThat(getsOfAWait(lock, theirs)).isEqualTo(1);
    }
  }

  /** How many gets it takes to wait for a lock that another process has. */
  private int getsOfAWait(AmqpLock lock, AmqpLock theirs) throws Exception {
    Lease held = Fixture.first(theirs);
    int before = sent.gets();
    int consumes = sent.consumes();
    CompletableFuture<Lease> next = lock.acquireAsync(LONG);
    // If there is a get, this comes after its answer.
    await().until(() -> sent.consumes() > consumes);
    await().during(Duration.ofMillis(200)).until(() -> !next.isDone());
    held.close();
    next.get(LONG.toSeconds(), TimeUnit.SECONDS).close();
    return sent.gets() - before;
  }

  private int getsOf(AmqpLock lock) throws Exception {
    int before = sent.gets();
    lock.acquire(LONG).close();
    return sent.gets() - before;
  }
}
