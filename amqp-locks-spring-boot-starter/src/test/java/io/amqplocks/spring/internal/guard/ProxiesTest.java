package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.internal.guard.declared.PackagePrivateMethods;
import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.NestedExceptionUtils;

/** Which proxies there are. Nobody needs the broker, so a guarded call ends with that. */
class ProxiesTest {

  static final class FinalClass {
    @MutexGuarded(name = "m")
    void work() {}
  }

  interface Working {
    @MutexGuarded(name = "m", maxWait = "0s")
    void work();
  }

  static final class FinalBehindAnInterface implements Working {
    @Override
    public void work() {}
  }

  record RecordBehindAnInterface() implements Working {
    @Override
    public void work() {}
  }

  static class Plain {
    void work() {}
  }

  @Test
  void aFinalClassIsAnErrorThatSaysWhatToDo() {
    Contexts.withoutBroker()
        .withBean(FinalClass.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining(FinalClass.class.getName() + ".work()")
                    .hasMessageContaining("its class is final")
                    .hasMessageContaining("take 'final' away"));
  }

  static class OfAnotherPackage extends PackagePrivateMethods {}

  static class LeaderOfAnotherPackage extends PackagePrivateMethods.OfALeader {}

  @ParameterizedTest
  @ValueSource(classes = {OfAnotherPackage.class, LeaderOfAnotherPackage.class})
  <T> void aMethodThatNoSubclassHereCanOverrideIsAnError(Class<T> type) {
    Contexts.withoutBroker()
        .withBean(type)
        .run(
            context ->
                assertThat(
                        NestedExceptionUtils.getMostSpecificCause(
                            Objects.requireNonNull(context.getStartupFailure())))
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining("work()")
                    .hasMessageContaining(type.getSimpleName() + " of another package inherits it")
                    .hasMessageContaining("make it protected or public"));
  }

  /** Proxies are of classes by default, also where there is an interface. */
  @ParameterizedTest
  @ValueSource(classes = {FinalBehindAnInterface.class, RecordBehindAnInterface.class})
  <T> void soIsOneBehindAnInterface(Class<T> type) {
    Contexts.withoutBroker()
        .withBean(type)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(GuardedMethodException.class)
                    .hasMessageContaining(type.getName() + ".work()")
                    .hasMessageContaining("spring.aop.proxy-target-class=false"));
  }

  @Test
  void proxiesOfInterfaces() {
    Contexts.withoutBroker()
        .withPropertyValues("spring.aop.proxy-target-class=false", "spring.rabbitmq.port=1")
        .withBean(FinalBehindAnInterface.class, FinalBehindAnInterface::new)
        .run(
            context -> {
              Working work = context.getBean(Working.class);
              assertThat(AopUtils.isJdkDynamicProxy(work)).isTrue();
              assertThatExceptionOfType(LockException.Unreachable.class).isThrownBy(work::work);
            });
  }

  @Test
  void whatIsNotAnnotatedHasNone() {
    Supplier<Plain> plain = Plain::new;
    Contexts.withoutBroker()
        .withBean(Plain.class, plain)
        .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Plain.class))).isFalse());
  }
}
