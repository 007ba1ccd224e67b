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
import java.io.Serial;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractAutoProxyCreator;
import org.springframework.aop.interceptor.DebugInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

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

  /** Wraps what guards, as a post-processor of the application may. */
  static class Wrapping implements BeanPostProcessor {
    private final UnaryOperator<Working> wrapper;

    Wrapping(UnaryOperator<Working> wrapper) {
      this.wrapper = wrapper;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
      return bean instanceof Working work ? wrapper.apply(work) : bean;
    }
  }

  record Decorator(Working work) implements Working {
    @Override
    public boolean held() {
      return work.held();
    }
  }

  private static Working jdkProxy(Working work) {
    return (Working)
        Proxy.newProxyInstance(
            Working.class.getClassLoader(),
            new Class<?>[] {Working.class},
            (proxy, method, arguments) -> {
              try {
                return method.invoke(work, arguments);
              } catch (InvocationTargetException e) {
                throw Objects.requireNonNull(e.getCause());
              }
            });
  }

  private void assertGuardedBehind(UnaryOperator<Working> wrapper) {
    application
        .withBean(Wrapping.class, () -> new Wrapping(wrapper))
        .withBean("work", Annotated.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              Working work = context.getBean("work", Working.class);
              assertThat(AopUtils.isAopProxy(work)).isFalse();
              assertThat(work.held()).isTrue();
              await().until(() -> !onBroker.isMutexHeld());
            });
  }

  @Test
  void aDecoratorAroundTheProxyThatGuards() {
    assertGuardedBehind(Decorator::new);
  }

  @Test
  void aJdkProxyAroundTheProxyThatGuards() {
    assertGuardedBehind(ProxyOfProxyTest::jdkProxy);
  }

  /** Its proxy guards nothing, and has a decorator around it too. */
  static class AnotherCreator extends AbstractAutoProxyCreator implements PriorityOrdered {
    @Serial private static final long serialVersionUID = 1L;

    @Override
    protected Object @Nullable [] getAdvicesAndAdvisorsForBean(
        Class<?> type, String name, @Nullable TargetSource source) {
      return name.equals("work") ? new Object[] {new DebugInterceptor()} : DO_NOT_PROXY;
    }

    @Override
    public @Nullable Object postProcessAfterInitialization(@Nullable Object bean, String name) {
      Object proxy = super.postProcessAfterInitialization(bean, name);
      return proxy instanceof Working work ? new Decorator(work) : proxy;
    }
  }

  /** Created after the other creator, and before the one that guards. */
  record NeedsIt(Working work) implements BeanPostProcessor, Ordered {
    @Override
    public int getOrder() {
      return LOWEST_PRECEDENCE;
    }
  }

  @Test
  void aDecoratorAroundAProxyThatGuardsNothingStopsTheStart() {
    application
        .withBean("work", Annotated.class)
        .withBean(AnotherCreator.class)
        .withBean(NeedsIt.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining("The bean 'work'")
                    .hasMessageContaining("no proxy that guards them"));
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
