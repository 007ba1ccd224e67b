package io.amqplocks.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.annotation.PostConstruct;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.core.AmqpTemplate;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextRefreshedEvent;

/** A context below another one: it shares the locks, and guards and leads for its own beans. */
@BrokerTest
class ChildContextTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private final ApplicationContextRunner application;

  ChildContextTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker
            .application()
            .withPropertyValues("amqp-locks.shutdown-timeout=20s", "above.lock=" + above());
  }

  private String above() {
    return onBroker.name() + "-above";
  }

  private ApplicationContextRunner childOf(ApplicationContext parent) {
    return application.withParent(parent).withPropertyValues("child.lock=" + onBroker.name());
  }

  static class Work {
    private final AtomicInteger runs = new AtomicInteger();

    @MutexGuarded(name = "${child.lock}", maxWait = "0s")
    public void work() {
      runs.incrementAndGet();
    }

    public int runs() {
      return runs.get();
    }
  }

  @Test
  void itsBeansAreGuardedByTheLocksOfItsParent() {
    application.run(
        parent -> {
          AmqpLocks locks = parent.getBean(AmqpLocks.class);
          childOf(parent)
              .withBean(Work.class)
              .run(
                  child -> {
                    assertThat(child.getBean(AmqpLocks.class)).isSameAs(locks);
                    Work work = child.getBean(Work.class);
                    assertThat(AopUtils.isAopProxy(work)).isTrue();
                    try (AmqpLocks others = onBroker.stranger();
                        Lease unused = others.mutex(onBroker.name()).acquire(LONG)) {
                      assertThatExceptionOfType(LockException.AcquireTimeout.class)
                          .isThrownBy(work::work);
                    }
                    work.work();
                    assertThat(work.runs()).isOne();
                  });
          // The locks are not closed with the child.
          assertThat(parent.getBean(LockTemplate.class).mutex(onBroker.name()).tryExecute(() -> {}))
              .isTrue();
        });
  }

  static class Migration {
    @PostConstruct
    @MutexGuarded(name = "${child.lock}")
    void migrate() {}
  }

  @Test
  void aGuardedLifecycleMethodStopsItsStart() {
    application.run(
        parent ->
            childOf(parent)
                .withBean(Migration.class)
                .run(
                    child ->
                        assertThat(child)
                            .getFailure()
                            .hasRootCauseInstanceOf(GuardedMethodException.class)
                            .hasStackTraceContaining("migrate() cannot be guarded by a lock")));
  }

  static class Job {
    private final AtomicInteger runs = new AtomicInteger();

    @LeaderOnly("${child.lock}")
    public void run() {
      runs.incrementAndGet();
    }

    public int runs() {
      return runs.get();
    }
  }

  @Test
  void itsJobsRunOnlyWhereItLeads() {
    application.run(
        parent -> {
          try (AmqpLocks others = onBroker.stranger();
              Lease lease = others.mutex(onBroker.name()).acquire(LONG)) {
            childOf(parent)
                .withBean(Job.class)
                .run(
                    child -> {
                      onBroker.awaitContenders(2);
                      Job job = child.getBean(Job.class);
                      job.run();
                      assertThat(job.runs()).isZero();
                      lease.close();
                      await()
                          .until(
                              () -> {
                                job.run();
                                return job.runs() > 0;
                              });
                      assertThat(leader(parent, onBroker.name())).isEqualTo(1);
                    });
            others.mutex(onBroker.name()).acquire(LONG).close(); // its election has ended with it
          }
        });
  }

  /** Fails when all has started, and the process leads. */
  record Failing(Job job) implements ApplicationListener<ContextRefreshedEvent> {
    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
      await()
          .until(
              () -> {
                job.run();
                return job.runs() > 0;
              });
      throw new IllegalStateException("a start that fails");
    }
  }

  @Test
  void aStartThatFailsLeavesNoLeaderBehind() {
    application.run(
        parent -> {
          childOf(parent)
              .withBean(Job.class)
              .withBean(Failing.class)
              .run(
                  child ->
                      assertThat(child).getFailure().hasMessageContaining("a start that fails"));
          try (AmqpLocks others = onBroker.stranger()) {
            others.mutex(onBroker.name()).acquire(Duration.ofSeconds(20)).close();
          }
        });
  }

  /** By the gauge of the parent. */
  private static double leader(ApplicationContext parent, String name) {
    return parent
        .getBean(MeterRegistry.class)
        .get("amqp.locks.leader")
        .tag("amqp.locks.name", name)
        .gauge()
        .value();
  }

  @Configuration(proxyBeanMethods = false)
  static class Above {
    @Bean
    LeaderElection above(AmqpLocks locks, @Value("${above.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).build();
    }
  }

  static class JobOfParentsLeader {
    private final AtomicInteger runs = new AtomicInteger();

    @LeaderOnly("${above.lock}")
    public void run() {
      runs.incrementAndGet();
    }

    public int runs() {
      return runs.get();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Below {
    @Bean
    LeaderElection below(AmqpLocks locks, @Value("${child.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).build();
    }
  }

  @Test
  void itStartsAndClosesItsOwnElectionsAndAsksThoseOfItsParent() {
    application
        .withUserConfiguration(Above.class)
        .run(
            parent -> {
              LeaderElection above = parent.getBean("above", LeaderElection.class);
              assertThat(above.awaitLeadership(LONG)).isPresent();
              childOf(parent)
                  .withUserConfiguration(Below.class)
                  .withBean(JobOfParentsLeader.class)
                  .run(
                      child -> {
                        LeaderElection below = child.getBean("below", LeaderElection.class);
                        assertThat(below.awaitLeadership(LONG)).isPresent();
                        assertThat(leader(parent, onBroker.name())).isEqualTo(1);
                        JobOfParentsLeader job = child.getBean(JobOfParentsLeader.class);
                        job.run();
                        assertThat(job.runs()).isOne();
                        child.close();
                        assertThat(below.isLeader()).isFalse();
                      });
              assertThat(above.isLeader()).isTrue();
              assertThat(leader(parent, onBroker.name())).isZero();
            });
  }

  static class Orders {
    private final List<String> seen = new CopyOnWriteArrayList<>();

    @RabbitListener(id = "orders", queues = "${child.lock}", autoStartup = "false")
    @LeaderOnly("${child.lock}")
    public void book(byte[] order) {
      seen.add(new String(order, StandardCharsets.UTF_8));
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableRabbit
  static class OwnListeners {}

  @Test
  void itsListenersConsumeWhereItLeadsIfItEnablesThem() throws Exception {
    try (var connection = broker.connectionFactory().newConnection();
        var channel = connection.createChannel()) {
      channel.queueDeclare(onBroker.name(), true, false, false, Map.of());
      try {
        application.run(
            parent ->
                childOf(parent)
                    .withUserConfiguration(OwnListeners.class)
                    .withBean(Orders.class)
                    .run(
                        child -> {
                          child
                              .getBean(AmqpTemplate.class)
                              .convertAndSend(
                                  onBroker.name(), "1".getBytes(StandardCharsets.UTF_8));
                          List<String> seen = child.getBean(Orders.class).seen;
                          await().until(() -> seen.equals(List.of("1")));
                        }));
      } finally {
        channel.queueDelete(onBroker.name());
      }
    }
  }

  static class OrdersOfParentsLeader {
    @RabbitListener(id = "orders", queues = "${child.lock}", autoStartup = "false")
    @LeaderOnly("${above.lock}")
    public void book(byte[] unused) {}
  }

  /** The election above goes on, and would keep the listeners of all children that there were. */
  @Test
  void nothingKeepsItsListenersWhenItIsClosed() throws Exception {
    try (var connection = broker.connectionFactory().newConnection();
        var channel = connection.createChannel()) {
      channel.queueDeclare(onBroker.name(), true, false, false, Map.of());
      try {
        application
            .withUserConfiguration(Above.class)
            .run(
                parent -> {
                  WeakReference<?> orders = ordersOfClosedChild(parent);
                  await()
                      .until(
                          () -> {
                            System.gc();
                            return orders.get() == null;
                          });
                  assertThat(parent.getBean(LeaderElection.class).isLeader()).isTrue();
                });
      } finally {
        channel.queueDelete(onBroker.name());
      }
    }
  }

  private WeakReference<?> ordersOfClosedChild(ApplicationContext parent) {
    List<WeakReference<?>> orders = new ArrayList<>();
    childOf(parent)
        .withUserConfiguration(OwnListeners.class)
        .withBean(OrdersOfParentsLeader.class)
        .run(
            child -> {
              RabbitListenerEndpointRegistry listeners =
                  child.getBean(RabbitListenerEndpointRegistry.class);
              await()
                  .until(
                      () ->
                          listeners.getListenerContainers().stream()
                              .allMatch(Lifecycle::isRunning));
              orders.add(new WeakReference<>(child.getBean(OrdersOfParentsLeader.class)));
            });
    return orders.get(0);
  }

  /** Spring Boot enables listeners in one context only. */
  @Test
  void otherwiseAListenerStopsItsStart() {
    application.run(
        parent ->
            childOf(parent)
                .withBean(Orders.class)
                .run(
                    child ->
                        assertThat(child)
                            .getFailure()
                            .hasStackTraceContaining("There is no container of the @RabbitListener")
                            .hasStackTraceContaining("a child context needs its own")));
  }
}
