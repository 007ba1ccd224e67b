package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.HeldByAnother;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The lock and {@code @Cacheable} on the same method. */
@BrokerTest
class CacheOrderTest {

  @AutoClose private final LocksOnBroker onBroker;

  CacheOrderTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Report {
    private final AtomicInteger made = new AtomicInteger();

    @Cacheable("reports")
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    int make() {
      return made.incrementAndGet();
    }
  }

  static class Application {
    @Bean
    CacheManager caches() {
      return new ConcurrentMapCacheManager();
    }

    @Bean
    Report report() {
      return new Report();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableCaching(proxyTargetClass = true)
  static class CachesAsEver extends Application {}

  @Configuration(proxyBeanMethods = false)
  @EnableCaching(proxyTargetClass = true, order = 0)
  static class CachesFirst extends Application {}

  @Test
  void theLockIsOutside() {
    onBroker
        .application()
        .withUserConfiguration(CachesAsEver.class)
        .run(
            context -> {
              Report report = context.getBean(Report.class);
              assertThat(report.make()).isEqualTo(1);
              assertThat(report.make()).as("from the cache").isEqualTo(1);
              HeldByAnother.during(
                  context.getBean(LockTemplate.class).mutex(onBroker.name()),
                  () ->
                      assertThatExceptionOfType(LockException.AcquireTimeout.class)
                          .isThrownBy(report::make));
            });
  }

  @Test
  void whoOrdersTheCacheOutsideHasItThere() {
    onBroker
        .application()
        .withPropertyValues("amqp-locks.annotations.order=1")
        .withUserConfiguration(CachesFirst.class)
        .run(
            context -> {
              Report report = context.getBean(Report.class);
              assertThat(report.make()).isEqualTo(1);
              HeldByAnother.during(
                  context.getBean(LockTemplate.class).mutex(onBroker.name()),
                  () -> assertThat(report.make()).as("from the cache").isEqualTo(1));
            });
  }
}
