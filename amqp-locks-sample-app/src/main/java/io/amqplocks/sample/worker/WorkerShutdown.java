package io.amqplocks.sample.worker;

import org.springframework.amqp.rabbit.config.ContainerCustomizer;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.boot.autoconfigure.context.LifecycleProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;

/** How a worker ends: with its uploads, and not in the middle of them. */
@Configuration(proxyBeanMethods = false)
@Profile("worker")
class WorkerShutdown {

  /**
   * Spring AMQP gives listeners five seconds, then interrupts them, and their images go back to the
   * queue. An upload may take longer. So listeners get as long as Spring waits for any other work.
   */
  @Bean
  ContainerCustomizer<SimpleMessageListenerContainer> timeForUploads(
      LifecycleProperties lifecycle) {
    long millis = lifecycle.getTimeoutPerShutdownPhase().toMillis();
    return container -> container.setShutdownTimeout(millis);
  }
}
