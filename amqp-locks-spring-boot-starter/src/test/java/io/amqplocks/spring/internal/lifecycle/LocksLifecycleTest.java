package io.amqplocks.spring.internal.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ApplicationEventMulticaster;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.Ordered;

@BrokerTest(everyLine = true)
class LocksLifecycleTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final String connections;
  private final Broker broker;
  private final ApplicationContextRunner application;

  LocksLifecycleTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    connections = "connections of " + name;
    application =
        onBroker
            .application()
            .withPropertyValues(
                "amqp-locks.connection-name=" + connections, "amqp-locks.shutdown-timeout=0s");
  }

  private List<String> openConnections() {
    return broker.faults().connections().stream().filter(c -> c.startsWith(connections)).toList();
  }

  @Test
  void closingTheContextReleasesAllLeasesAndThenCloses() {
    List<String> notices = new CopyOnWriteArrayList<>();
    LockListener listener =
        new LockListener() {
          @Override
          public void released(Lease lease, Duration held) {
            notices.add("released");
          }

          @Override
          public void lost(Lease lease, LossReason reason, Duration held) {
            notices.add("lost: " + reason);
          }

          @Override
          public void sessionEnded(String detail) {
            notices.add("ended");
          }
        };
    AtomicReference<LockTemplate> locks = new AtomicReference<>();
    AtomicReference<Lease> lease = new AtomicReference<>();
    ApplicationContextRunner heard =
        application
            .withPropertyValues("amqp-locks.semaphores." + name + ".slots=2")
            .withBean(LockListener.class, () -> listener);
    // A close waits a second for the thread of the listeners, which on a busy machine may not run
    // for as long.
    for (int again = 0; again < 3 && notices.isEmpty(); again++) {
      heard.run(
          context -> {
            locks.set(context.getBean(LockTemplate.class));
            lease.set(locks.get().semaphore(name).acquire());
            Awaitility.await()
                .untilAsserted(
                    () ->
                        assertThat(openConnections())
                            .containsExactlyInAnyOrder(
                                connections + " holder",
                                connections + " quorum holder",
                                connections + " side"));
          });
    }
    assertThat(lease.get().state()).isEqualTo(LeaseState.RELEASED);
    assertThat(notices).isNotEmpty().first().isEqualTo("released");
    assertThat(notices).noneMatch(notice -> notice.startsWith("lost"));
    Awaitility.await().untilAsserted(() -> assertThat(openConnections()).isEmpty());
    assertThatExceptionOfType(LockException.Closed.class)
        .isThrownBy(() -> locks.get().mutex(name).acquire());
  }

  enum Kind {
    MUTEX,
    TOKEN
  }

  @ParameterizedTest
  @EnumSource
  void workOfTheApplicationsOwnThreadsMayEndWhileNewWorkIsRefused(Kind kind) {
    workMayEnd(application, kind, context -> {});
  }

  @Test
  void workMayEndAlsoWhereTheContextWasStoppedBeforeItIsClosed() {
    workMayEnd(application, Kind.MUTEX, ConfigurableApplicationContext::stop);
  }

  /** One with an executor that never has time. */
  @Test
  void workMayEndAlsoWhereEventsArePassedToAnExecutor() {
    workMayEnd(
        application.withBean(
            AbstractApplicationContext.APPLICATION_EVENT_MULTICASTER_BEAN_NAME,
            ApplicationEventMulticaster.class,
            () -> {
              SimpleApplicationEventMulticaster busy = new SimpleApplicationEventMulticaster();
              busy.setTaskExecutor(event -> {});
              return busy;
            }),
        Kind.MUTEX,
        context -> {});
  }

  /** Spring then tells no listener that comes after it. */
  @Test
  void workMayEndAlsoWhereAnotherListenerFails() {
    workMayEnd(
        application.withBean(FailingListener.class, FailingListener::new),
        Kind.MUTEX,
        context -> {});
  }

  static final class FailingListener implements ApplicationListener<ContextClosedEvent>, Ordered {
    @Override
    public int getOrder() {
      return 0;
    }

    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
      throw new IllegalStateException("for the test");
    }
  }

  private void workMayEnd(
      ApplicationContextRunner runner, Kind kind, Consumer<ConfigurableApplicationContext> before) {
    CompletableFuture<LeaseState> atItsEnd = new CompletableFuture<>();
    AtomicReference<Thread> worker = new AtomicReference<>();
    runner
        .withPropertyValues(
            "amqp-locks.shutdown-timeout=60s", "amqp-locks.semaphores." + name + ".slots=1")
        .run(
            context -> {
              LockTemplate locks = context.getBean(LockTemplate.class);
              Lease lease =
                  (kind == Kind.MUTEX ? locks.mutex(name) : locks.semaphore(name)).acquire();
              Thread thread = new Thread(() -> atItsEnd.complete(endOf(lease, locks)));
              worker.set(thread);
              thread.start();
              before.accept(context.getSourceApplicationContext());
            });
    // It may be another thread that sees the last lease go.
    assertThat(atItsEnd).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(LeaseState.HELD);
    assertThat(worker.get()).isNotNull();
  }

  /** Ends when no new lock can be had, so that the end has begun. */
  private LeaseState endOf(Lease lease, LockTemplate locks) {
    try (lease) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> isRefused(locks.mutex(name + "-other")));
      return lease.verify();
    }
  }

  private static boolean isRefused(LockHandle lock) {
    try {
      lock.execute(() -> {});
      return false;
    } catch (LockException.Closed e) {
      return true;
    }
  }

  @Test
  void workThatStopsWithTheContextStillHoldsItsLock() {
    Work work = new Work();
    application
        .withBean(Work.class, () -> work)
        .run(context -> work.lease = context.getBean(LockTemplate.class).mutex(name).acquire());
    assertThat(work.stateAtStop).isEqualTo(LeaseState.HELD);
  }

  /** In the phase of the web server's graceful shutdown. */
  static final class Work implements SmartLifecycle {
    private volatile boolean running;
    private volatile @Nullable Lease lease;
    private volatile @Nullable LeaseState stateAtStop;

    @Override
    public void start() {
      running = true;
    }

    @Override
    public void stop() {
      running = false;
      Lease held = lease;
      stateAtStop = held == null ? null : held.state();
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return DEFAULT_PHASE - 1024;
    }
  }

  @Test
  void aStoppedContextKeepsItsLeasesAndCanStartAgain() {
    application.run(
        context -> {
          LockTemplate locks = context.getBean(LockTemplate.class);
          try (Lease lease = locks.mutex(name).acquire()) {
            context.getSourceApplicationContext().stop();
            assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
            context.getSourceApplicationContext().start();
          }
          assertThat(locks.mutex(name).tryExecute(() -> {})).isTrue();
        });
  }

  @Test
  void theApplicationsNameIsTheDefaultForTheConnections() {
    application
        .withPropertyValues("amqp-locks.connection-name=", "spring.application.name=" + connections)
        .run(
            context -> {
              context.getBean(LockTemplate.class).mutex(name).execute(() -> {});
              assertThat(openConnections()).contains(connections + " holder");
            });
  }
}
