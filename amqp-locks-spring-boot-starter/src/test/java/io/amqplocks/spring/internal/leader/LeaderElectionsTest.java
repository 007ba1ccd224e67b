package io.amqplocks.spring.internal.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LeadershipRevokedEvent;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.health.AmqpLocksHealthIndicator;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

@BrokerTest(everyLine = true)
class LeaderElectionsTest {

  @AutoClose private final LocksOnBroker onBroker;

  LeaderElectionsTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  @Configuration(proxyBeanMethods = false)
  static class Application {
    final List<String> events = new CopyOnWriteArrayList<>();

    @Bean
    LeaderElection election(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).build();
    }

    @Bean
    MeterRegistry registry() {
      return new SimpleMeterRegistry();
    }

    @EventListener
    void granted(LeadershipGrantedEvent event) {
      assertThat(event.leadership().isCurrent()).isTrue();
      events.add("granted");
    }

    @EventListener
    void revoked(LeadershipRevokedEvent event) {
      assertThat(event.leadership().isCurrent()).isFalse();
      events.add("revoked " + event.revocation().cause());
    }
  }

  private ApplicationContextRunner application() {
    return onBroker
        .application()
        .withPropertyValues("amqp-locks.shutdown-timeout=20s")
        .withUserConfiguration(Application.class);
  }

  private String lock() {
    return LockId.mutex(onBroker.name()).toString();
  }

  private static Map<String, Object> health(ApplicationContext application) {
    Health health = application.getBean(AmqpLocksHealthIndicator.class).health();
    assertThat(health.getStatus()).isEqualTo(Status.UP);
    return health.getDetails();
  }

  private static double gauge(MeterRegistry registry) {
    return registry.get("amqp.locks.leader").gauge().value();
  }

  @Test
  void oneApplicationLeadsAndTheNextAfterItsEnd() {
    application()
        .run(
            second -> {
              LeaderElection follower = second.getBean(LeaderElection.class);
              assertThat(follower.awaitLeadership(Duration.ofSeconds(60))).isPresent();
              assertThat(gauge(second.getBean(MeterRegistry.class))).isEqualTo(1);
              assertThat(health(second)).containsEntry("leads", Map.of(lock(), true));
              List<String> events = second.getBean(Application.class).events;
              // It finds the leadership current only before the election yields.
              await().until(() -> !events.isEmpty());
              List<String> othersEvents =
                  applicationThatLeadsAfter(follower, second.getBean(MeterRegistry.class));
              assertThat(othersEvents).containsExactly("granted", "revoked " + Cause.CLOSED);
              assertThat(follower.awaitLeadership(Duration.ofSeconds(60))).isPresent();
              await()
                  .untilAsserted(
                      () ->
                          assertThat(events)
                              .containsExactly("granted", "revoked " + Cause.YIELDED, "granted"));
            });
  }

  /** Its events, after it has ended. */
  private List<String> applicationThatLeadsAfter(LeaderElection leader, MeterRegistry registry) {
    List<String> events = new CopyOnWriteArrayList<>();
    long[] ends = new long[1];
    application()
        .run(
            first -> {
              LeaderElection election = first.getBean(LeaderElection.class);
              assertThat(election.isLeader()).isFalse();
              assertThat(gauge(first.getBean(MeterRegistry.class))).isZero();
              assertThat(health(first)).containsEntry("leads", Map.of(lock(), false));
              // Or the one that yields might lead again.
              onBroker.awaitContenders(2);
              assertThat(leader.yieldLeadership()).isTrue();
              assertThat(election.awaitLeadership(Duration.ofSeconds(60))).isPresent();
              assertThat(gauge(first.getBean(MeterRegistry.class))).isEqualTo(1);
              assertThat(gauge(registry)).isZero();
              Application application = first.getBean(Application.class);
              await().until(() -> !application.events.isEmpty());
              ends[0] = System.nanoTime();
              first.close();
              events.addAll(application.events);
            });
    // The locks were not waited for: leadership had been given up before.
    assertThat(Duration.ofNanos(System.nanoTime() - ends[0])).isLessThan(Duration.ofSeconds(15));
    return events;
  }

  @Configuration(proxyBeanMethods = false)
  static class TwoElections {
    @Bean
    LeaderElection one(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).build();
    }

    @Bean
    LeaderElection another(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).build();
    }
  }

  @Test
  void theGaugeIsOfAllElectionsOnALock() {
    onBroker
        .application()
        .withUserConfiguration(TwoElections.class)
        .run(
            application -> {
              MeterRegistry registry = application.getBean(MeterRegistry.class);
              List<LeaderElection> elections =
                  application.getBeanProvider(LeaderElection.class).stream().toList();
              await().until(() -> elections.stream().anyMatch(LeaderElection::isLeader));
              assertThat(gauge(registry)).isEqualTo(1);
              LeaderElection first =
                  elections.stream().filter(LeaderElection::isLeader).findAny().orElseThrow();
              first.close();
              await().until(() -> elections.stream().anyMatch(LeaderElection::isLeader));
              assertThat(gauge(registry)).isEqualTo(1);
            });
  }

  static class Job {
    private final AtomicInteger runs = new AtomicInteger();

    @LeaderOnly("${test.lock}")
    public void run() {
      runs.incrementAndGet();
    }

    int runs() {
      return runs.get();
    }
  }

  @Test
  void anElectionThatIsMadeLateHasItsGauge() {
    onBroker
        .application()
        .withBean(Job.class, Job::new, bean -> bean.setLazyInit(true))
        .run(
            application -> {
              MeterRegistry registry = application.getBean(MeterRegistry.class);
              assertThat(registry.find("amqp.locks.leader").gauges()).isEmpty();
              Job job = application.getBean(Job.class);
              await()
                  .until(
                      () -> {
                        job.run();
                        return job.runs() > 0;
                      });
              assertThat(
                      registry
                          .get("amqp.locks.leader")
                          .tags("amqp.locks.name", onBroker.name(), "amqp.locks.type", "mutex")
                          .gauge()
                          .value())
                  .isEqualTo(1);
            });
  }
}
