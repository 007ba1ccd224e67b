package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.KeepAlive;
import io.amqplocks.internal.lease.LeaseRegistry;
import io.amqplocks.internal.lease.PeriodicVerification;
import io.amqplocks.internal.lease.ReleaseListener;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Unspeakable;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is done periodically goes on after a moment in which no thread could be started. */
@BrokerTest
class PeriodicTaskTest {

  private static final LockId LOCK = LockId.mutex("l");
  private static final Duration BOUND = Duration.ofSeconds(5);

  private final ScheduledExecutorService scheduler = Executors.newScheduledThreadPool(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger tasks = new AtomicInteger();

  /** Fails as a pool does that the system lets have no more threads. */
  private final Executor failsOnce =
      task -> {
        if (tasks.incrementAndGet() == 1) {
          throw new OutOfMemoryError("unable to create native thread, says the test");
        }
        threads.execute(task);
      };

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient client;

  @Test
  void goesOnAfterAFailureThatCannotBeLogged() {
    PeriodicTask task =
        new PeriodicTask(
            "test",
            () -> {
              throw new Unspeakable();
            });
    assertThatCode(task::run).doesNotThrowAnyException();
  }

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(10));
  }

  @AfterEach
  void close() throws Exception {
    scheduler.shutdownNow();
    client.close();
    threads.shutdownNow();
  }

  private static void soon(BooleanSupplier isSo) {
    await().atMost(Duration.ofSeconds(20)).until(isSo::getAsBoolean);
  }

  private HeldLease acquired(LeaseRegistry registry) {
    MutexClaim claim = new MutexClaim(fixture.prefix() + "m", registry);
    return claim.attempt(client.call(LOCK), client.session()).orElseThrow();
  }

  /** One of the many leases of a session may fail to act on its loss. */
  @Test
  void allMembersOfASessionHearOfItsEndWhateverOneOfThemThrows() {
    AtomicInteger told = new AtomicInteger();
    for (int i = 0; i < 3; i++) {
      client.session().join(failing(told));
    }
    client.session().end(new LossReason(LossReason.Cause.SESSION_ENDED, "by the test"));
    assertThat(told).hasValue(3);
  }

  private static Session.Member failing(AtomicInteger told) {
    return reason -> {
      told.incrementAndGet();
      throw new OutOfMemoryError("unable to create native thread, says the test");
    };
  }

  @Test
  void isRepeatedAfterAnErrorToo() {
    var unused =
        scheduler.scheduleWithFixedDelay(
            new PeriodicTask("test", () -> failsOnce.execute(() -> {})),
            1,
            1,
            TimeUnit.MILLISECONDS);
    soon(() -> tasks.get() > 2);
  }

  @Test
  void theHeartbeatOfLeasesGoesOn() {
    try (HeldLease held = acquired(client.registry())) {
      assertThat(held.lossReason()).isEmpty();
      new KeepAlive(scheduler, failsOnce, Duration.ofMillis(20), BOUND, List.of(client.registry()))
          .begin(client.session());
      soon(() -> tasks.get() > 2);
    }
  }

  /** A lease that was being verified for ever would not be verified again. */
  @Test
  void theVerificationOfTheSameLeaseGoesOn() {
    AtomicInteger verified = new AtomicInteger();
    Executor counting = task -> failsOnce.execute(() -> count(task, verified));
    LeaseRegistry registry =
        new LeaseRegistry(
            BOUND, Ticker.SYSTEM, client.notices(), threads, counting, ReleaseListener.NONE);
    try (HeldLease held = acquired(registry)) {
      assertThat(held.lossReason()).isEmpty();
      assertThat(registry.verify(client.session())).as("the pass ends").isCompleted();
      assertThat(tasks).hasValue(1);
      new PeriodicVerification(scheduler, Duration.ofMillis(5), List.of(registry))
          .begin(client.session());
      soon(() -> verified.get() > 1);
    }
  }

  private static void count(Runnable task, AtomicInteger verified) {
    task.run();
    verified.incrementAndGet();
  }
}
