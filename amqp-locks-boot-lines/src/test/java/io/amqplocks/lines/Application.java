package io.amqplocks.lines;

import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.amqp.core.Queue;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitAdmin;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** What an application would write, in terms that all lines of Spring Boot have. */
@SpringBootApplication(proxyBeanMethods = false)
class Application {

  @Bean
  Uploads uploads() {
    return new Uploads();
  }

  /** Where Boot configures nothing for RabbitMQ: see the module 4.2. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnMissingClass({
    "org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration",
    "org.springframework.boot.rabbitmq.autoconfigure.RabbitAutoConfiguration"
  })
  @EnableRabbit
  static class OwnRabbit {

    @Bean
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

    @Bean
    RabbitAdmin ownAdmin(CachingConnectionFactory connections) {
      return new RabbitAdmin(connections);
    }

    /** By the name that a listener asks for. */
    @Bean
    SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory(
        CachingConnectionFactory connections) {
      SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
      factory.setConnectionFactory(connections);
      return factory;
    }
  }

  /** Where it is asked for, since a leader holds its lock for as long as the application runs. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBooleanProperty("lines.leader")
  @EnableScheduling
  static class Leading {

    @Bean
    Queue orders(@Value("${lines.orders}") String name) {
      return new Queue(name);
    }

    @Bean
    Feed feed() {
      return new Feed();
    }
  }

  /** Work that only a leader does. */
  static class Feed {
    private final CountDownLatch polls = new CountDownLatch(3);
    private final BlockingQueue<String> booked = new LinkedBlockingQueue<>();

    @Scheduled(fixedDelay = 20)
    @LeaderOnly("feed")
    void poll() {
      polls.countDown();
    }

    @RabbitListener(id = "orders", queues = "${lines.orders}", autoStartup = "false")
    @LeaderOnly("orders")
    void book(String order) {
      booked.add(order);
    }

    boolean awaitPolls() throws InterruptedException {
      return polls.await(60, TimeUnit.SECONDS);
    }

    @Nullable String awaitBooked() throws InterruptedException {
      return booked.poll(60, TimeUnit.SECONDS);
    }
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
