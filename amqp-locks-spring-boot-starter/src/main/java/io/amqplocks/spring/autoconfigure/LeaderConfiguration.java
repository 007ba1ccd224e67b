package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.leader.IntegrationLeaderEvents;
import io.amqplocks.spring.internal.leader.LeaderElections;
import io.amqplocks.spring.internal.leader.LeaderOnlyAdvisor;
import io.amqplocks.spring.internal.leader.LeaderOnlyMethods;
import org.springframework.amqp.rabbit.listener.ListenerContainerConsumerFailedEvent;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.util.function.SingletonSupplier;

/**
 * Elections, and methods that only leaders run. These go through proxies in either mode. A context
 * below another one has its own of all but the events, since proxies and listeners are its own.
 */
@Configuration(proxyBeanMethods = false)
@Import(ProxyCreator.class)
class LeaderConfiguration {

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static LeaderOnlyMethods amqpLocksLeaderOnlyMethods(ConfigurableListableBeanFactory beans) {
    return new LeaderOnlyMethods(beans::resolveEmbeddedValue);
  }

  /** Before the locks of the method: they are not acquired for a call that does nothing. */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  static LeaderOnlyAdvisor amqpLocksLeaderOnlyAdvisor(
      ObjectProvider<LeaderOnlyMethods> methods,
      ObjectProvider<LeaderElections> elections,
      Environment environment) {
    int order =
        Binder.get(environment)
            .bind("amqp-locks.annotations.order", Integer.class)
            .orElse(AmqpLocksProperties.DEFAULT_ORDER);
    return new LeaderOnlyAdvisor(
        SingletonSupplier.of(methods::getObject),
        SingletonSupplier.of(elections::getObject),
        order == Integer.MIN_VALUE ? order : order - 1);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  LeaderElections amqpLocksLeaderElections(
      LeaderOnlyMethods methods, ApplicationContext context, LockCatalog catalog) {
    ApplicationContext parent = context.getParent();
    return new LeaderElections(
        methods,
        context,
        parent == null ? null : parent.getBeanProvider(LeaderElections.class).getIfAvailable(),
        catalog);
  }

  /** A bean of its own: the first event of any kind would have the elections made too early. */
  @Bean
  @ConditionalOnMissingBean(name = "amqpLocksFailedContainers", search = SearchStrategy.CURRENT)
  static ApplicationListener<ListenerContainerConsumerFailedEvent> amqpLocksFailedContainers(
      ObjectProvider<LeaderElections> elections) {
    return event -> elections.ifAvailable(each -> each.failed(event));
  }

  /** For applications with Spring Integration. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(name = "org.springframework.integration.leader.event.LeaderEventPublisher")
  static class IntegrationConfiguration {

    @Bean
    @ConditionalOnMissingBean
    IntegrationLeaderEvents amqpLocksIntegrationLeaderEvents(
        LeaderElections elections, ApplicationEventPublisher events) {
      return new IntegrationLeaderEvents(elections, new DefaultLeaderEventPublisher(events));
    }
  }
}
