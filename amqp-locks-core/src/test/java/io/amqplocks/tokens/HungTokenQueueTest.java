package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A queue of tokens that does not answer. The client library lets whoever asks on a channel that
 * owes an answer wait for that without any bound.
 */
@Tag("trap-6")
@BrokerTest(everyLine = true)
class HungTokenQueueTest {

  /** Not above what a held queue's channel would owe its answer for, which is for ever. */
  private static final Duration BOUND = Duration.ofSeconds(20);

  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private Broker broker;
  private AmqpLocks locks;
  private AmqpLock hanging;
  private String queue;

  @BeforeEach
  void semaphores(Broker tested) throws Exception {
    broker = tested;
    AmqpLocks patient = fixture.open();
    patient.admin().tokenSemaphore("hangs").create(1, TokenQueueType.CLASSIC);
    patient.admin().tokenSemaphore("well").create(1, TokenQueueType.CLASSIC);
    locks =
        fixture.connected(
            fixture
                .builder()
                .heartbeat(Duration.ofSeconds(30))
                .callTimeout(CALL_TIMEOUT)
                .verifyEvery(Duration.ofSeconds(15)));
    hanging = locks.tokenSemaphore("hangs");
    LockId lock = LockId.tokenSemaphore("hangs");
    // Looked for before it hangs, for then it does not answer this either.
    queue = fixture.names().tokens(lock, Tokens.generation(broker, fixture.names(), lock));
  }

  @AfterEach
  void close() throws Exception {
    broker.faults().resumeQueue(queue);
  }

  private static <T> T within(Callable<T> call) throws Exception {
    return started(call).get(BOUND.toSeconds(), TimeUnit.SECONDS);
  }

  private static <T> CompletableFuture<T> started(Callable<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(call.call());
              } catch (Exception e) {
                result.completeExceptionally(e);
              }
            },
            "asks-what-hangs");
    thread.setDaemon(true);
    thread.start();
    return result;
  }

  private void assertIdleAgain() {
    await()
        .atMost(BOUND)
        .untilAsserted(
            () -> {
              assertThat(locks.admin().tokenSemaphore("hangs").status().idle()).isEqualTo(1);
              assertThat(Tokens.consumers(broker, fixture.names(), LockId.tokenSemaphore("hangs")))
                  .isZero();
            });
  }

  /** It asks now and then whether the queue is there, and another waiter came after it. */
  @Test
  void whoWaitsKeepsItsPlaceThoughNoLookIsAnswered() throws Exception {
    Lease held = Fixture.first(fixture.open(fixture.seldomVerifying()).tokenSemaphore("hangs"));
    Duration heartbeat = Duration.ofSeconds(8);
    AmqpLocks first =
        fixture.connected(fixture.builder().heartbeat(heartbeat).callTimeout(heartbeat));
    CompletableFuture<Lease> waiting =
        first.tokenSemaphore("hangs").acquireAsync(Duration.ofMinutes(1));
    fixture.awaitConsumers(queue, 1);
    try (Connection stranger = fixture.stranger()) {
      AtomicInteger overtook = new AtomicInteger();
      Channel second = stranger.createChannel();
      second.basicQos(1);
      second.basicConsume(queue, (tag, message) -> overtook.incrementAndGet(), tag -> {});
      fixture.awaitConsumers(queue, 2);
      broker.faults().suspendQueue(queue);
      // It looks after half a heartbeat, and gives the look half of a call, which is as long.
      await().during(heartbeat.plusSeconds(2)).until(() -> !waiting.isDone());
      broker.faults().resumeQueue(queue);
      held.close();
      try (Lease lease = waiting.get(60, TimeUnit.SECONDS)) {
        Tokens.verified(lease);
        assertThat(overtook).hasValue(0);
      }
    }
  }

  @Test
  void whoVerifiesAgainIsNotKeptByTheLastQuestion() throws Exception {
    Lease lease = hanging.tryAcquire().orElseThrow();
    Tokens.verified(lease);
    broker.faults().suspendQueue(queue);
    // The first leaves a question open on the channel, and the second of old waited for its answer.
    for (int i = 0; i < 3; i++) {
      assertThat(within(lease::verify)).isIn(LeaseState.HELD, LeaseState.UNCERTAIN);
    }
    broker.faults().resumeQueue(queue);
    await().atMost(BOUND).until(() -> lease.verify() == LeaseState.HELD);
    lease.close();
    assertIdleAgain();
  }

  @Test
  void whoTakesAnotherLockIsNotKeptByAReleaseWhileItWasVerified() throws Exception {
    Lease lease = hanging.tryAcquire().orElseThrow();
    broker.faults().suspendQueue(queue);
    CompletableFuture<LeaseState> verification = started(lease::verify);
    // Its consumer is asked for by then.
    await().pollDelay(Duration.ofMillis(300)).until(() -> !verification.isDone());
    lease.close();
    // Of old on the channel that owed the answer to that.
    Optional<Lease> other = within(() -> locks.tokenSemaphore("well").tryAcquire());
    assertThat(other).isPresent();
    other.get().close();
    assertThat(verification.get(BOUND.toSeconds(), TimeUnit.SECONDS))
        .isEqualTo(LeaseState.RELEASED);
    broker.faults().resumeQueue(queue);
    assertIdleAgain();
  }
}
