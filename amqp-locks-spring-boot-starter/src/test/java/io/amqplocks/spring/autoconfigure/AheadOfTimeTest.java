package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.HeldByAnother;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.endpoint.AmqpLocksEndpoint;
import io.amqplocks.spring.internal.endpoint.BrokerDescriptor;
import io.amqplocks.spring.internal.endpoint.ChangeDescriptor;
import io.amqplocks.spring.internal.endpoint.LockDescriptor;
import io.amqplocks.spring.internal.endpoint.LocksDescriptor;
import io.amqplocks.spring.internal.endpoint.ProblemDescriptor;
import io.amqplocks.spring.internal.guard.declared.KeyRoot;
import io.amqplocks.spring.internal.health.AmqpLocksHealthIndicator;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.rabbit.connection.AbstractConnectionFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.http.HttpEntity;
import org.springframework.integration.support.locks.LockRegistry;

/** An application that was processed ahead of time, as for a native image. */
@BrokerTest
class AheadOfTimeTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final TestPropertyValues properties;
  private final TestGenerationContext generation = new TestGenerationContext();

  AheadOfTimeTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    properties =
        TestPropertyValues.of(onBroker.properties())
            .and(
                "amqp-locks.semaphores.images.slots=1",
                "amqp-locks.lock-registry.key=orders",
                "management.endpoints.web.exposure.include=amqplocks");
  }

  record Customer(String id) {}

  record Album(int size) {}

  record Order(Customer customer) {}

  /** What an application guards. */
  static class Work {

    private final LockHandle images;

    Work(LockHandle images) {
      this.images = images;
    }

    @SemaphoreGuarded(name = "images", onBusy = OnBusy.FALLBACK, fallbackMethod = "later")
    public String upload() {
      return "uploaded, and free: " + images.tryAcquire().isPresent();
    }

    @SuppressWarnings("unused") // the annotation names it
    private String later(LockException.AcquireTimeout busy) {
      return "later";
    }

    @MutexGuarded(name = "order", key = "#order.customer.id")
    public String place(Order order) {
      return "placed";
    }

    @SemaphoreGuarded(name = "images", permitsExpression = "#album.size()")
    public String uploadAll(Album album) {
      return "uploaded";
    }
  }

  /** What a library makes a bean of; public for the loader of what is generated. */
  public interface Counting {
    @MutexGuarded(name = "count")
    int count();
  }

  /** As repositories and mappers are made. */
  static class CountingFactory implements FactoryBean<Counting> {
    @Override
    public Counting getObject() {
      return () -> 7;
    }

    @Override
    public Class<?> getObjectType() {
      return Counting.class;
    }
  }

  /** The application. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration({
    PropertyPlaceholderAutoConfiguration.class,
    RabbitAutoConfiguration.class,
    MetricsAutoConfiguration.class,
    CompositeMeterRegistryAutoConfiguration.class,
    SimpleMetricsExportAutoConfiguration.class,
    ObservationAutoConfiguration.class,
    AmqpLocksAutoConfiguration.class,
    AmqpLockProviderAutoConfiguration.class,
    AmqpLockRegistryAutoConfiguration.class,
    AmqpLocksEndpointAutoConfiguration.class,
    AmqpLocksHealthContributorAutoConfiguration.class,
    AmqpLocksMetricsAutoConfiguration.class,
    AmqpLocksObservationAutoConfiguration.class
  })
  static class Application {
    @Bean
    Work work(@Qualifier("images") LockHandle images) {
      return new Work(images);
    }

    @Bean
    CountingFactory counting() {
      return new CountingFactory();
    }
  }

  private String process() {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    properties.applyTo(context);
    context.register(Application.class);
    return new ApplicationContextAotGenerator()
        .processAheadOfTime(context, generation)
        .canonicalName();
  }

  @Test
  void whatIsLookedUpByNameIsRegistered() throws NoSuchMethodException {
    process();
    RuntimeHints hints = generation.getRuntimeHints();
    var reflection = RuntimeHintsPredicates.reflection();
    assertThat(
            reflection.onMethodInvocation(
                Work.class.getDeclaredMethod("later", LockException.AcquireTimeout.class)))
        .accepts(hints);
    assertThat(reflection.onType(HttpEntity.class)).accepts(hints);
    assertThat(reflection.onMethodInvocation(Work.class.getMethod("upload"))).accepts(hints);
    assertThat(reflection.onMethodInvocation(Order.class.getMethod("customer"))).accepts(hints);
    assertThat(reflection.onMethodInvocation(Customer.class.getMethod("id"))).accepts(hints);
    assertThat(reflection.onMethodInvocation(Album.class.getMethod("size"))).accepts(hints);
    assertThat(
            reflection
                .onType(KeyRoot.class)
                .withMemberCategory(MemberCategory.INVOKE_PUBLIC_METHODS))
        .accepts(hints);
    assertThat(
            reflection.onMethodInvocation(
                AbstractConnectionFactory.class.getDeclaredMethod("getAddresses")))
        .accepts(hints);
    for (Class<?> inAnswers :
        List.of(
            LocksDescriptor.class,
            LocksDescriptor.Session.class,
            LockDescriptor.class,
            LockDescriptor.HeldHere.class,
            BrokerDescriptor.class,
            ChangeDescriptor.class,
            ProblemDescriptor.class)) {
      for (RecordComponent part : inAnswers.getRecordComponents()) {
        assertThat(reflection.onMethodInvocation(part.getAccessor())).accepts(hints);
      }
    }
    for (Class<?> annotation : List.of(MutexGuarded.class, ReadGuarded.class, WriteGuarded.class)) {
      assertThat(RuntimeHintsPredicates.proxies().forInterfaces(annotation)).accepts(hints);
    }
    assertThat(reflection.onMethodInvocation(Counting.class.getMethod("count"))).accepts(hints);
    assertThat(
            RuntimeHintsPredicates.proxies()
                .forInterfaces(AopProxyUtils.completeJdkProxyInterfaces(Counting.class)))
        .accepts(hints);
  }

  @Test
  @CompileWithForkedClassLoader
  void theProcessedApplicationGuardsAsTheOriginalDoes() {
    String initializer = process();
    generation.writeGeneratedContent();
    TestCompiler.forSystem()
        .with(generation)
        .compile(
            compiled -> {
              try (GenericApplicationContext context = new GenericApplicationContext()) {
                properties.applyTo(context.getEnvironment(), TestPropertyValues.Type.MAP, "test");
                initialize(
                    compiled.getInstance(ApplicationContextInitializer.class, initializer),
                    context);
                context.refresh();
                Work work = context.getBean(Work.class);
                assertThat(work.upload()).isEqualTo("uploaded, and free: false");
                HeldByAnother.during(
                    context.getBean(LockTemplate.class).semaphore("images"),
                    () -> assertThat(work.upload()).isEqualTo("later"));
                assertThat(work.place(new Order(new Customer("42")))).isEqualTo("placed");
                assertThat(context.getBean(Counting.class).count()).isEqualTo(7);
                assertBridgesLock(context);
                assertThat(
                        context
                            .getBean(AmqpLocksEndpoint.class)
                            .locks(SecurityContext.NONE)
                            .locks())
                    .isNotEmpty();
                assertThat(context.getBean(AmqpLocksHealthIndicator.class).health().getStatus())
                    .isEqualTo(Status.UP);
                assertThat(
                        context
                            .getBean(MeterRegistry.class)
                            .find("amqp.locks.acquire")
                            .tag("amqp.locks.outcome", "acquired")
                            .timers())
                    .isNotEmpty();
              }
            });
  }

  @Test
  @CompileWithForkedClassLoader
  void whatGuardsIsDecidedWhenItIsProcessed() {
    String initializer = process();
    generation.writeGeneratedContent();
    TestCompiler.forSystem()
        .with(generation)
        .compile(
            compiled -> {
              try (GenericApplicationContext context = new GenericApplicationContext()) {
                properties
                    .and("amqp-locks.annotations.mode=aspectj")
                    .applyTo(context.getEnvironment(), TestPropertyValues.Type.MAP, "test");
                initialize(
                    compiled.getInstance(ApplicationContextInitializer.class, initializer),
                    context);
                assertThatException()
                    .isThrownBy(context::refresh)
                    .havingRootCause()
                    .isInstanceOf(LockConfigurationException.class)
                    .withMessageContaining("amqp-locks.annotations.mode is ASPECTJ")
                    .withMessageContaining("processed ahead of time");
              }
            });
  }

  private void assertBridgesLock(ApplicationContext context) {
    Lock lock = context.getBean(LockRegistry.class).obtain("key");
    lock.lock();
    try {
      assertHeld(context, "orders:key");
    } finally {
      lock.unlock();
    }
    SimpleLock job =
        context
            .getBean(LockProvider.class)
            .lock(
                new LockConfiguration(
                    Instant.now(), onBroker.name(), Duration.ofMinutes(5), Duration.ZERO))
            .orElseThrow();
    assertHeld(context, "shedlock:" + onBroker.name());
    job.unlock();
  }

  private static void assertHeld(ApplicationContext context, String mutex) {
    assertThat(context.getBean(AmqpLocks.class).leases())
        .extracting(LeaseSnapshot::lock)
        .containsExactly(LockId.mutex(mutex));
  }

  @SuppressWarnings("unchecked") // it is one of every context
  private static void initialize(
      ApplicationContextInitializer<?> initializer, GenericApplicationContext context) {
    ((ApplicationContextInitializer<GenericApplicationContext>) initializer).initialize(context);
  }
}
