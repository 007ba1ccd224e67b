package io.amqplocks.spring.internal.guard.woven;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.internal.guard.GuardAdvisor;
import jakarta.annotation.PostConstruct;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.CommonAnnotationBeanPostProcessor;
import org.springframework.core.NestedExceptionUtils;

/** What an application is told that is to be woven, and is not: these tests have no weaver. */
class NotWovenTest {

  private final ApplicationContextRunner application =
      Contexts.withoutBroker().withPropertyValues("amqp-locks.annotations.mode=AspectJ");

  static class Work {
    @MutexGuarded(name = "m")
    public void work() {}
  }

  static class Plain {}

  static class Starting {
    private final AtomicBoolean ran;

    Starting(AtomicBoolean ran) {
      this.ran = ran;
    }

    @PostConstruct
    @MutexGuarded(name = "m")
    void start() {
      ran.set(true);
    }
  }

  private static Throwable cause(AssertableApplicationContext context) {
    return NestedExceptionUtils.getMostSpecificCause(
        Objects.requireNonNull(context.getStartupFailure()));
  }

  @Test
  void aGuardedMethodStopsTheStart() {
    application
        .withBean(Work.class, Work::new)
        .run(
            context ->
                assertThat(cause(context))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining("no guarded method is woven")
                    .hasMessageContaining(Work.class.getName() + ".work()")
                    .hasMessageContaining("-javaagent:/path/to/aspectjweaver.jar")
                    .hasMessageContaining("remove amqp-locks.annotations.mode"));
  }

  @Test
  void beforeOneRunsThatSpringCallsFirst() {
    AtomicBoolean ran = new AtomicBoolean();
    application
        .withBean(CommonAnnotationBeanPostProcessor.class)
        .withBean(Starting.class, () -> new Starting(ran))
        .run(
            context ->
                assertThat(cause(context))
                    .isInstanceOf(LockConfigurationException.class)
                    .hasMessageContaining(Starting.class.getName() + ".start()"));
    assertThat(ran).isFalse();
  }

  @Test
  void withoutGuardedMethodsItStartsWithoutProxies() {
    application
        .withBean(Plain.class, Plain::new)
        .run(
            context -> {
              assertThat(context).hasNotFailed().doesNotHaveBean(GuardAdvisor.class);
              assertThat(AopUtils.isAopProxy(context.getBean(Plain.class))).isFalse();
            });
  }

  @Test
  void anUnknownModeStopsTheStart() {
    Contexts.withoutBroker()
        .withPropertyValues("amqp-locks.annotations.mode=aspect")
        .run(
            context ->
                assertThat(context).getFailure().rootCause().hasMessageContaining("AdviceMode"));
  }
}
