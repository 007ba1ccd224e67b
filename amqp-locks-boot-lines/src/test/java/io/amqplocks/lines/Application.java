package io.amqplocks.lines;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** What an application would write, in terms that all lines of Spring Boot have. */
@SpringBootApplication(proxyBeanMethods = false)
class Application {

  @Bean
  Uploads uploads() {
    return new Uploads();
  }

  /** Where Boot configures none: see the module 4.2. */
  @Bean
  @ConditionalOnMissingClass({
    "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration",
    "org.springframework.boot.rabbitmq.autoconfigure.RabbitAutoConfiguration"
  })
  CachingConnectionFactory ownConnectionFactory(Environment environment) {
    CachingConnectionFactory factory =
        new CachingConnectionFactory(
            environment.getRequiredProperty("spring.rabbitmq.host"),
            environment.getRequiredProperty("spring.rabbitmq.port", Integer.class));
    factory.setUsername(environment.getRequiredProperty("spring.rabbitmq.username"));
    factory.setPassword(environment.getRequiredProperty("spring.rabbitmq.password"));
    factory.setVirtualHost(environment.getRequiredProperty("spring.rabbitmq.virtual-host"));
    return factory;
  }

  /** Work that only so many may do at once. */
  static class Uploads {
    private final AtomicInteger done = new AtomicInteger();

    @SemaphoreGuarded(name = "images", slots = 2)
    int upload(IntSupplier inUse) {
      done.incrementAndGet();
      return inUse.getAsInt();
    }

    @SemaphoreGuarded(
        name = "images",
        key = "#customer",
        onBusy = OnBusy.FALLBACK,
        fallbackMethod = "later")
    String uploadFor(String customer, Callable<String> meanwhile) throws Exception {
      return meanwhile.call();
    }

    String later(String customer, Callable<String> meanwhile) {
      return "later";
    }

    @MutexGuarded(name = "report")
    int report() {
      return done.get();
    }
  }
}
