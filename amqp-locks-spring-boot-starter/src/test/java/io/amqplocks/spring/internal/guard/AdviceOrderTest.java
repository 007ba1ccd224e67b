package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.RootClassFilter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The lock among the advice of {@code @Async}, {@code @Scheduled} and {@code @Retryable}. */
@BrokerTest
class AdviceOrderTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  AdviceOrderTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final CountDownLatch finish = new CountDownLatch(1);
    private final ObjectProvider<AmqpLocks> locks;

    Work(ObjectProvider<AmqpLocks> locks) {
      this.locks = locks;
    }

    List<String> seen() {
      return seen;
    }

    void finish() {
      finish.countDown();
    }

    private void note() {
      String thread = Thread.currentThread().getName().replaceAll("[0-9]+$", "");
      seen.add(thread + " with " + locks.getObject().status().held() + " held");
    }

    @Async
    @MutexGuarded(name = "${test.lock}")
    void async() throws InterruptedException {
      note();
      assertThat(finish.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Async
    @MutexGuarded(name = "${test.lock}")
    CompletableFuture<String> asyncFuture() {
      note();
      return CompletableFuture.completedFuture("done");
    }

    @MutexGuarded(name = "${test.lock}")
    @Retryable(maxRetries = 2, delay = 1, excludes = LockException.class)
    String retried() {
      note();
      if (seen.size() < 3) {
        throw new IllegalStateException("again");
      }
      return "done";
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.THROW)
    @Retryable(maxRetries = 1000, delay = 20, includes = LockException.AcquireTimeout.class)
    String retriedWhileBusy() {
      note();
      return "done";
    }
  }

  static class Ticks {
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final ObjectProvider<AmqpLocks> locks;

    Ticks(ObjectProvider<AmqpLocks> locks) {
      this.locks = locks;
    }

    List<String> seen() {
      return seen;
    }

    @Scheduled(fixedDelay = 50)
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.SKIP)
    void tick() {
      String thread = Thread.currentThread().getName().replaceAll("[0-9]+$", "");
      seen.add(thread + " with " + locks.getObject().status().held() + " held");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  @EnableResilientMethods
  static class Application {
    @Bean
    Work work(ObjectProvider<AmqpLocks> locks) {
      return new Work(locks);
    }

    @Bean
    ThreadPoolTaskExecutor taskExecutor() {
      ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
      executor.setThreadNamePrefix("executor-");
      executor.setCorePoolSize(2);
      return executor;
    }
  }

  /** Its advice is there before the lock's. */
  @Configuration(proxyBeanMethods = false)
  @EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
  static class AsyncFirst {
    @Bean
    Work work(ObjectProvider<AmqpLocks> locks) {
      return new Work(locks);
    }
  }

  /** As with {@code mode = ASPECTJ}, which needs a weaver. */
  @Configuration(proxyBeanMethods = false)
  static class AsyncWoven {
    @Bean
    Work work(ObjectProvider<AmqpLocks> locks) {
      return new Work(locks);
    }

    @Bean(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)
    Object aspect() {
      return new Object();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Ticking {
    @Bean
    Ticks ticks(ObjectProvider<AmqpLocks> locks) {
      return new Ticks(locks);
    }

    @Bean
    ThreadPoolTaskScheduler taskScheduler() {
      ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
      scheduler.setThreadNamePrefix("scheduler-");
      return scheduler;
    }
  }

  static class Later {
    @MutexGuarded(name = "${test.lock}")
    CompletableFuture<String> future() {
      return CompletableFuture.completedFuture("done");
    }

    @MutexGuarded(name = "${test.lock}")
    Mono<String> mono() {
      return Mono.just("done");
    }

    @MutexGuarded(name = "${test.lock}")
    Flux<String> flux() {
      return Flux.just("done");
    }
  }

  /** What Spring does for aspects: they look for the call that they are part of. */
  @Configuration(proxyBeanMethods = false)
  static class Looking {
    @Bean
    Later later() {
      return new Later();
    }

    private static Advisor advisor(MethodInterceptor advice, int order) {
      DefaultPointcutAdvisor advisor =
          new DefaultPointcutAdvisor(
              new ComposablePointcut(new RootClassFilter(Later.class)), advice);
      advisor.setOrder(order);
      return advisor;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor exposing() {
      return advisor(ExposeInvocationInterceptor.INSTANCE, Ordered.HIGHEST_PRECEDENCE);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Advisor looking() {
      return advisor(
          call -> {
            assertThat(ExposeInvocationInterceptor.currentInvocation().getMethod())
                .isEqualTo(call.getMethod());
            return call.proceed();
          },
          Ordered.LOWEST_PRECEDENCE);
    }
  }

  /** The work of these begins on another thread than the call. */
  @Test
  void adviceBehindTheLockFindsItsCallWhenTheWorkBeginsLater() {
    onBroker
        .application()
        .withUserConfiguration(Looking.class)
        .run(
            context -> {
              Later later = context.getBean(Later.class);
              assertThat(later.future().get(30, TimeUnit.SECONDS)).isEqualTo("done");
              assertThat(later.mono().block(LONG)).isEqualTo("done");
              assertThat(later.flux().blockLast(LONG)).isEqualTo("done");
            });
  }

  @Test
  void theThreadOfTheExecutorHasTheLock() {
    onBroker
        .application()
        .withUserConfiguration(Application.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              Work work = context.getBean(Work.class);
              work.async();
              await().atMost(LONG).until(() -> !work.seen().isEmpty());
              assertThat(locks.status().held()).isEqualTo(1);
              CompletableFuture<String> second = work.asyncFuture();
              await().atMost(LONG).until(() -> locks.status().waiting() == 1);
              work.finish();
              assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo("done");
              assertThat(locks.status().held()).isZero();
              assertThat(work.seen())
                  .containsExactly("executor- with 1 held", "executor- with 1 held");
            });
  }

  /** The lock would be released before the work begins. */
  @ParameterizedTest
  @ValueSource(classes = {AsyncFirst.class, AsyncWoven.class})
  void anAsyncMethodBehindItsLockIsRefused(Class<?> configuration) {
    onBroker
        .application()
        .withUserConfiguration(configuration)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining("method async()")
                    .hasMessageContaining(Work.class.getName())
                    .hasMessageContaining("@Async is behind its lock"));
  }

  /** Spring's aspect leaves these alone, and they run within their locks. */
  @Async
  static class NotWoven {
    @MutexGuarded(name = "${test.lock}")
    String found() {
      return "done";
    }
  }

  @Async
  @Retention(RetentionPolicy.RUNTIME)
  @interface Elsewhere {}

  /** It does not see an annotation of an annotation either. */
  static class NotSeen {
    private final AmqpLocks locks;

    NotSeen(AmqpLocks locks) {
      this.locks = locks;
    }

    @Elsewhere
    @MutexGuarded(name = "${test.lock}")
    void run() {
      assertThat(locks.status().held()).isEqualTo(1);
    }
  }

  @Test
  void aMethodThatSpringsAspectLeavesAloneIsNotRefused() {
    onBroker
        .application()
        .withBean(
            TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME, Object.class, Object::new)
        .withBean(NotWoven.class)
        .withBean(NotSeen.class)
        .run(
            context -> {
              assertThat(context.getBean(NotWoven.class).found()).isEqualTo("done");
              context.getBean(NotSeen.class).run();
            });
  }

  @Test
  void eachAttemptTakesTheLockAnew() {
    onBroker
        .application()
        .withUserConfiguration(Application.class)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              assertThat(work.retried()).isEqualTo("done");
              assertThat(work.seen()).hasSize(3).allMatch(seen -> seen.endsWith(" with 1 held"));
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
  }

  @Test
  void aBusyLockIsAnAttemptThatFailed() {
    onBroker
        .application()
        .withBean(BusyAttempts.class)
        .withUserConfiguration(Application.class)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              CompletableFuture<String> waiting;
              try (Lease other =
                  context.getBean(LockTemplate.class).mutex(onBroker.name()).acquire()) {
                waiting = CompletableFuture.supplyAsync(work::retriedWhileBusy);
                BusyAttempts attempts = context.getBean(BusyAttempts.class);
                await().atMost(LONG).until(() -> attempts.number() >= 2);
                assertThat(waiting).isNotDone();
                assertThat(other.lossReason()).isEmpty();
              }
              assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            });
  }

  @Test
  void theSchedulerCallsTheProxy() {
    onBroker
        .application()
        .withUserConfiguration(Ticking.class)
        .run(
            context -> {
              Ticks ticks = context.getBean(Ticks.class);
              await().atMost(LONG).until(() -> ticks.seen().size() >= 2);
              assertThat(ticks.seen()).allMatch("scheduler- with 1 held"::equals);
            });
  }
}
