package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.HeldByAnother;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.lang.reflect.Proxy;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.DebugInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

/** However many proxies there are, and wherever the annotation is, a call takes its lock once. */
@Tag("defect-B1")
@BrokerTest
class ProxyOfProxyTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  ProxyOfProxyTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker.application().withBean(BooleanSupplier.class, () -> onBroker::isMutexHeld);
  }

  /** Answers whether the lock is held meanwhile. */
  interface Working {
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    boolean held();
  }

  private void assertTakesItOnce(Class<?> configuration, String bean) {
    application
        .withUserConfiguration(configuration)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              Working work = context.getBean(bean, Working.class);
              assertThat(AopUtils.isAopProxy(work)).isTrue();
              assertThat(work.held()).isTrue();
              await().until(() -> !onBroker.isMutexHeld());
              HeldByAnother.during(
                  context.getBean(LockTemplate.class).mutex(onBroker.name()),
                  () ->
                      assertThatExceptionOfType(LockException.AcquireTimeout.class)
                          .isThrownBy(work::held));
            });
  }

  /** The same method, annotated in both places. */
  static class Annotated implements Working {
    private final BooleanSupplier held;

    Annotated(BooleanSupplier held) {
      this.held = held;
    }

    @Override
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    public boolean held() {
      return held.getAsBoolean();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OfClass {
    @Bean
    Working work(BooleanSupplier held) {
      return new Annotated(held);
    }

    /** The bean again, which is a proxy already. */
    @Bean
    Working alias(@Qualifier("work") Working work) {
      return work;
    }

    /** The bean behind a proxy of the application's own. */
    @Bean
    Working traced(@Qualifier("work") Working work) {
      ProxyFactory proxies = new ProxyFactory(work);
      proxies.addAdvice(new DebugInterceptor());
      return (Working) proxies.getProxy();
    }
  }

  @Test
  void classAndInterface() {
    assertTakesItOnce(OfClass.class, "work");
  }

  @Test
  void aBeanByTwoNames() {
    assertTakesItOnce(OfClass.class, "alias");
  }

  @Test
  void anApplicationsOwnProxyOfABean() {
    assertTakesItOnce(OfClass.class, "traced");
  }

  @Configuration(proxyBeanMethods = false)
  static class OfInterfaces {
    @Bean
    Working proxied(BooleanSupplier held) {
      return (Working)
          Proxy.newProxyInstance(
              Working.class.getClassLoader(),
              new Class<?>[] {Working.class},
              (proxy, method, arguments) -> held.getAsBoolean());
    }

    @Bean
    Working again(@Qualifier("proxied") Working proxied) {
      return proxied;
    }

    @Bean
    Working lambda(BooleanSupplier held) {
      return held::getAsBoolean;
    }

    @Bean
    @Scope(value = "prototype", proxyMode = ScopedProxyMode.INTERFACES)
    Working scoped(BooleanSupplier held) {
      return held::getAsBoolean;
    }
  }

  @Test
  void aJdkProxy() {
    assertTakesItOnce(OfInterfaces.class, "proxied");
  }

  @Test
  void aJdkProxyByTwoNames() {
    assertTakesItOnce(OfInterfaces.class, "again");
  }

  @Test
  void aLambda() {
    assertTakesItOnce(OfInterfaces.class, "lambda");
  }

  @Test
  void aScopedProxy() {
    assertTakesItOnce(OfInterfaces.class, "scoped");
  }

  /** Drags the bean into its own creation, which comes before there is anything that guards it. */
  static class TooEarly implements BeanFactoryPostProcessor {
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
      assertThat(AopUtils.isAopProxy(beans.getBean("spring"))).isTrue();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class OfSpring {
    @Bean
    static Working spring(BooleanSupplier held) {
      ProxyFactory proxies = new ProxyFactory(Working.class, new DebugInterceptor());
      proxies.setTarget((Working) held::getAsBoolean);
      return (Working) proxies.getProxy();
    }
  }

  @Test
  void aProxyThatIsCreatedTooEarlyStopsTheStart() {
    application
        .withUserConfiguration(OfSpring.class)
        .withBean(TooEarly.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining("The bean 'spring'")
                    .hasMessageContaining("no proxy that guards them"));
  }

  @Test
  void otherwiseItIsGuarded() {
    assertTakesItOnce(OfSpring.class, "spring");
  }

  interface Wrong {
    @MutexGuarded(name = "${test.lock}", key = "#nobody")
    boolean held(long id);
  }

  @Test
  void anErrorNamesTheInterface() {
    application
        .withBean(Wrong.class, () -> id -> true)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining(Wrong.class.getName() + ".held()")
                    .hasMessageContaining("there is only #id"));
  }
}
