package io.amqplocks.spring.internal.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.context.Lifecycle;

@BrokerTest
class ElectedContainerTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;

  ElectedContainerTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  /** Counts as running until its stop has returned, as Spring's containers do. */
  private static final class SlowToStop implements Lifecycle {
    final CountDownLatch stopping = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    private volatile boolean running;

    @Override
    public void start() {
      if (running) {
        // Whoever starts it too early does so before its stop ends.
        mayEnd.countDown();
        return;
      }
      running = true;
    }

    @Override
    public void stop() {
      stopping.countDown();
      try {
        boolean unused = mayEnd.await(2, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }
  }

  @Test
  void whatWasGrantedDuringAStopIsStartedAfterIt() throws Exception {
    SlowToStop container = new SlowToStop();
    try (AmqpLocks locks = onBroker.stranger();
        AmqpLocks others = onBroker.stranger();
        Lease lease = others.mutex(onBroker.name()).acquire(LONG);
        LeaderElection election = LeaderElection.on(locks.mutex(onBroker.name())).build()) {
      ElectedContainer elected = new ElectedContainer("slow", container, election, () -> true);
      elected.attach();
      election.start();
      container.start();
      CompletableFuture<Void> settled = CompletableFuture.runAsync(elected::settle);
      assertThat(container.stopping.await(30, TimeUnit.SECONDS)).isTrue();
      lease.close();
      assertThat(election.awaitLeadership(LONG)).isPresent();
      settled.get(30, TimeUnit.SECONDS);
      await().until(container::isRunning);
      election.close();
      assertThat(container.isRunning()).isFalse();
    }
  }

  @Test
  void whoeverDoesNotWaitForAStopIsNotForgotten() throws Exception {
    SlowToStop container = new SlowToStop();
    AtomicBoolean started = new AtomicBoolean(true);
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election = LeaderElection.on(locks.mutex(onBroker.name())).build()) {
      ElectedContainer elected = new ElectedContainer("slow", container, election, started::get);
      elected.attach();
      election.start();
      await().until(container::isRunning);
      started.set(false);
      CompletableFuture<Void> settled = CompletableFuture.runAsync(elected::settle);
      assertThat(container.stopping.await(30, TimeUnit.SECONDS)).isTrue();
      started.set(true);
      Thread.currentThread().interrupt();
      elected.settle();
      assertThat(Thread.interrupted()).isTrue();
      container.mayEnd.countDown();
      settled.get(30, TimeUnit.SECONDS);
      assertThat(container.isRunning()).isTrue();
    }
  }

  /** Its context is closed, and that of the election is not. */
  @Test
  void oneThatIsDetachedIsNotStarted() throws Exception {
    SlowToStop container = new SlowToStop();
    CountDownLatch granted = new CountDownLatch(1);
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election = LeaderElection.on(locks.mutex(onBroker.name())).build()) {
      ElectedContainer elected = new ElectedContainer("slow", container, election, () -> true);
      elected.attach();
      election.addListener(
          new LeaderListener() {
            @Override
            public void granted(Leadership leadership) {
              granted.countDown();
            }
          });
      elected.detach();
      election.start();
      assertThat(granted.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(container.isRunning()).isFalse();
    }
  }

  /** A direct container that has lost a consumer says the same, and begins another one. */
  @Test
  void oneThatGoesOnKeepsTheLeadership() throws Exception {
    SlowToStop container = new SlowToStop();
    container.mayEnd.countDown();
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election =
            LeaderElection.on(locks.mutex(onBroker.name())).yieldPause(LONG).build()) {
      ElectedContainer elected = new ElectedContainer("slow", container, election, () -> true);
      election.start();
      assertThat(election.awaitLeadership(LONG)).isPresent();
      elected.settle();
      assertThat(container.isRunning()).isTrue();
      elected.stopsItself(container, "a consumer was cancelled");
      assertThat(election.isLeader()).isTrue();
      container.stop();
      elected.stopsItself(new Object(), "another one");
      assertThat(election.isLeader()).isTrue();
      elected.stopsItself(container, "its queue is gone");
      assertThat(election.isLeader()).isFalse();
    }
  }

  @Test
  void inAStoppedContextNothingIsStarted() throws Exception {
    SlowToStop container = new SlowToStop();
    container.mayEnd.countDown();
    AtomicBoolean started = new AtomicBoolean();
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election = LeaderElection.on(locks.mutex(onBroker.name())).build()) {
      ElectedContainer elected = new ElectedContainer("slow", container, election, started::get);
      elected.attach();
      election.start();
      assertThat(election.awaitLeadership(LONG)).isPresent();
      // Its own grant may come later, and is of no effect either.
      elected.settle();
      assertThat(container.isRunning()).isFalse();
      started.set(true);
      elected.settle();
      assertThat(container.isRunning()).isTrue();
    }
  }

  /** Whose start hangs until somebody interrupts it, and has begun to consume by then. */
  private static final class HangsAtStart implements Lifecycle {
    final CountDownLatch starting = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);
    final AtomicBoolean stoppedByInterrupted = new AtomicBoolean();
    private volatile boolean running;

    @Override
    public void start() {
      running = true;
      starting.countDown();
      try {
        boolean unused = new CountDownLatch(1).await(60, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        interrupted.countDown();
        // As Spring's containers do.
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void stop() {
      stoppedByInterrupted.set(Thread.currentThread().isInterrupted());
      running = false;
    }

    @Override
    public boolean isRunning() {
      return running;
    }
  }

  @Test
  void whileAnotherContainerStartsAndAListenerBlocksTheEndOfATermStopsAll() throws Exception {
    SlowToStop first = new SlowToStop();
    first.mayEnd.countDown();
    HangsAtStart second = new HangsAtStart();
    CountDownLatch mayEnd = new CountDownLatch(1);
    CountDownLatch blocks = new CountDownLatch(1);
    AtomicBoolean calledInterrupted = new AtomicBoolean();
    AtomicBoolean toldOfTheEnd = new AtomicBoolean();
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election =
            LeaderElection.on(locks.mutex(onBroker.name())).grace(LONG).build()) {
      new ElectedContainer("first", first, election, () -> true).attach();
      new ElectedContainer("second", second, election, () -> true).attach();
      election.addListener(
          new LeaderListener() {
            @Override
            public void granted(Leadership leadership) {
              calledInterrupted.set(Thread.currentThread().isInterrupted());
              blocks.countDown();
              try {
                boolean unused = mayEnd.await(60, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            }

            @Override
            public void revoked(Leadership leadership, Revocation why) {
              toldOfTheEnd.set(true);
            }
          });
      election.start();
      assertThat(second.starting.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(first.isRunning()).isTrue();
      assertThat(election.yieldLeadership()).isTrue();
      await().until(() -> !first.isRunning() && !second.isRunning());
      // Or it would not wait for its handlers.
      assertThat(second.stoppedByInterrupted).isFalse();
      assertThat(second.interrupted.await(0, TimeUnit.SECONDS)).isTrue();
      // The election's thread goes on without the interrupt, and has told nobody of the end yet.
      assertThat(blocks.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(calledInterrupted).isFalse();
      assertThat(toldOfTheEnd).isFalse();
      mayEnd.countDown();
    }
  }

  /** What nobody would stop is not started. */
  @Test
  void withoutAThreadThatStopsItThereIsNoLeader() throws Exception {
    SlowToStop container = new SlowToStop();
    container.mayEnd.countDown();
    CompletableFuture<Leadership> refused = new CompletableFuture<>();
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election = LeaderElection.on(locks.mutex(onBroker.name())).build()) {
      ElectedContainer elected =
          new ElectedContainer(
              "starved",
              container,
              election,
              () -> true,
              (term, name, end) -> {
                if (refused.complete(term)) {
                  throw new OutOfMemoryError("unable to create native thread, says the test");
                }
                return TermWatch.of(term, name, end);
              });
      elected.attach();
      election.start();
      Leadership term = refused.get(60, TimeUnit.SECONDS);
      await().until(() -> term.revocation().isPresent());
      assertThat(term.revocation().orElseThrow().cause()).isEqualTo(Cause.YIELDED);
      // In a later term of the same process, as there is no other.
      await().until(container::isRunning);
      assertThat(election.leadership()).isPresent().get().isNotEqualTo(term);
    }
  }

  /** A context above may lead for years, and this one is to be forgotten. */
  @Test
  void noThreadIsLeftOfOneThatIsDetached() throws Exception {
    SlowToStop container = new SlowToStop();
    container.mayEnd.countDown();
    String id = onBroker.name();
    try (AmqpLocks locks = onBroker.stranger();
        LeaderElection election = LeaderElection.on(locks.mutex(onBroker.name())).build()) {
      election.start();
      assertThat(election.awaitLeadership(LONG)).isPresent();
      ElectedContainer elected = new ElectedContainer(id, container, election, () -> true);
      elected.attach();
      elected.settle();
      assertThat(container.isRunning()).isTrue();
      assertThat(watches(id)).isTrue();
      elected.detach();
      await().until(() -> !watches(id));
      assertThat(election.isLeader()).isTrue();
      assertThat(container.isRunning()).isFalse();
    }
  }

  private static boolean watches(String id) {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals("amqp-locks leader listener " + id));
  }
}
