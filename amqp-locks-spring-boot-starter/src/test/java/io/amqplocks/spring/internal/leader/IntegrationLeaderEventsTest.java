package io.amqplocks.spring.internal.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.Leadership;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.endpoint.AbstractEndpoint;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.LeaderEventPublisher;
import org.springframework.integration.support.SmartLifecycleRoleController;

@BrokerTest
class IntegrationLeaderEventsTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;

  IntegrationLeaderEventsTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  /** Runs while it has its role. */
  static final class Endpoint extends AbstractEndpoint {
    Endpoint(String role) {
      setAutoStartup(false);
      setRole(role);
    }

    @Override
    public String getComponentType() {
      return "test";
    }

    @Override
    protected void doStart() {}

    @Override
    protected void doStop() {}
  }

  @Configuration(proxyBeanMethods = false)
  static class Elections {
    @Bean
    LeaderElection election(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).yieldPause(Duration.ofMillis(10)).build();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableIntegration
  static class Application {
    final List<AbstractLeaderEvent> events = new CopyOnWriteArrayList<>();

    @Bean
    Endpoint mine(@Value("${test.lock}") String name) {
      return new Endpoint(name);
    }

    @Bean
    Endpoint anothers(@Value("${test.lock}") String name) {
      return new Endpoint(name + "-not");
    }

    @EventListener
    void heard(AbstractLeaderEvent event) {
      events.add(event);
    }

    private List<String> kinds() {
      return events.stream().map(event -> event.getClass().getSimpleName()).toList();
    }
  }

  private ApplicationContextRunner application() {
    return onBroker.application().withUserConfiguration(Elections.class);
  }

  @Test
  void endpointsOfTheRoleRunWhileThisApplicationLeads() {
    application()
        .withUserConfiguration(Application.class)
        .run(
            context -> {
              Application application = context.getBean(Application.class);
              Endpoint mine = context.getBean("mine", Endpoint.class);
              LeaderElection election = context.getBean(LeaderElection.class);
              assertThat(context).hasSingleBean(SmartLifecycleRoleController.class);
              assertThat(election.awaitLeadership(LONG)).isPresent();
              await().until(mine::isRunning);
              assertThat(context.getBean("anothers", Endpoint.class).isRunning()).isFalse();
              await().until(() -> !application.events.isEmpty());
              AbstractLeaderEvent granted = application.events.get(0);
              assertThat(granted.getRole()).isEqualTo(onBroker.name());
              assertThat(granted.getContext().getRole()).isEqualTo(onBroker.name());
              assertThat(granted.getContext().isLeader()).isTrue();

              Leadership first = election.leadership().orElseThrow();
              granted.getContext().yield();
              assertThat(granted.getContext().isLeader()).isFalse();
              await()
                  .untilAsserted(
                      () ->
                          assertThat(application.kinds())
                              .containsExactly(
                                  "OnGrantedEvent", "OnRevokedEvent", "OnGrantedEvent"));
              await().until(mine::isRunning);
              assertThat(application.events.get(1).getContext().isLeader()).isFalse();
              // The term that is over gives up no later one.
              granted.getContext().yield();
              assertThat(election.isLeader()).isTrue();
              assertThat(application.events.get(2).getContext().isLeader()).isTrue();
              // What is told too late must start nothing.
              context.publishEvent(new LeadershipGrantedEvent(first));
              assertThat(application.events).hasSize(3);
              election.close();
              await().until(() -> !mine.isRunning());
            });
  }

  @Test
  void withoutSpringIntegrationThereAreNone() {
    application()
        .withClassLoader(new FilteredClassLoader(LeaderEventPublisher.class.getPackageName()))
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(IntegrationLeaderEvents.class);
              assertThat(context.getBean(LeaderElection.class).awaitLeadership(LONG)).isPresent();
            });
  }
}
