package io.amqplocks.spring.internal.guard.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.MutexGuarded;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** No method runs without its lock because Spring calls it on the object itself. */
@Tag("defect-B5")
class LifecycleMethodCheckTest {

  /** What a bean would do unguarded. */
  static class Work {
    private static final AtomicInteger DONE = new AtomicInteger();

    void work() {
      DONE.incrementAndGet();
    }
  }

  static class AfterCreation extends Work {
    @PostConstruct
    @MutexGuarded(name = "m")
    void init() {
      work();
    }
  }

  static class Hidden extends Work {
    @PostConstruct
    @MutexGuarded(name = "m")
    private void init() {
      work();
    }
  }

  static class Base extends Work {
    @PostConstruct
    void init() {
      work();
    }
  }

  static class Overriding extends Base {
    @Override
    @MutexGuarded(name = "m")
    void init() {
      work();
    }
  }

  static class Initializing extends Work implements InitializingBean {
    @Override
    @MutexGuarded(name = "m")
    public void afterPropertiesSet() {
      work();
    }
  }

  static class Injected extends Work {
    @Autowired
    @MutexGuarded(name = "m")
    void use(ApplicationContext context) {
      work();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class InitMethod {
    static class Named extends Work {
      @MutexGuarded(name = "m")
      void init() {
        work();
      }
    }

    @Bean(initMethod = "init")
    Named named() {
      return new Named();
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        AfterCreation.class,
        Hidden.class,
        Overriding.class,
        Initializing.class,
        Injected.class,
        InitMethod.class
      })
  void aMethodThatSpringCallsAtCreation(Class<?> bean) {
    int done = Work.DONE.get();
    assertThat(refusal(bean))
        .contains("() cannot be guarded by a lock: Spring calls it while it creates the bean")
        .contains("ApplicationRunner")
        .contains("LockTemplate");
    assertThat(Work.DONE).hasValue(done);
  }

  static class BeforeDestruction {
    @PreDestroy
    @MutexGuarded(name = "m")
    void end() {}
  }

  static class Disposable implements DisposableBean {
    @Override
    @MutexGuarded(name = "m")
    public void destroy() {}
  }

  static class Closeable implements AutoCloseable {
    @Override
    @MutexGuarded(name = "m")
    public void close() {}
  }

  @ParameterizedTest
  @ValueSource(classes = {BeforeDestruction.class, Disposable.class, Closeable.class})
  void aMethodThatSpringCallsAtTheEnd(Class<?> bean) {
    assertThat(refusal(bean))
        .contains("() cannot be guarded by a lock: Spring calls it while it destroys the bean")
        .contains("@EventListener(ContextClosedEvent.class)");
  }

  @MutexGuarded(name = "m")
  static class OnClass extends Work implements InitializingBean {
    @Override
    public void afterPropertiesSet() {
      work();
    }
  }

  @Test
  void anAnnotationOfTheClass() {
    int done = Work.DONE.get();
    assertThat(refusal(OnClass.class))
        .contains(OnClass.class.getName() + ".afterPropertiesSet() cannot be guarded")
        .contains("the annotation is on the class")
        .contains("annotate the other methods instead");
    assertThat(Work.DONE).hasValue(done);
  }

  /** Its author did not think of the end; other calls of that method are guarded. */
  @MutexGuarded(name = "m")
  static class OnCloseableClass implements AutoCloseable {
    @PostConstruct
    void init() {}

    @Override
    public void close() {}
  }

  static class Unguarded implements InitializingBean, DisposableBean {
    @Override
    public void afterPropertiesSet() {}

    @Override
    public void destroy() {}

    @MutexGuarded(name = "m")
    void work() {}
  }

  @ParameterizedTest
  @ValueSource(classes = {OnCloseableClass.class, Unguarded.class})
  void othersAreFree(Class<?> bean) {
    Contexts.withoutBroker()
        .withUserConfiguration(bean)
        .run(context -> assertThat(context).hasNotFailed());
  }

  private static String refusal(Class<?> bean) {
    AtomicReference<String> message = new AtomicReference<>("");
    Contexts.withoutBroker()
        .withUserConfiguration(bean)
        .run(
            context -> {
              assertThat(context)
                  .getFailure()
                  .rootCause()
                  .isInstanceOf(GuardedMethodException.class)
                  .satisfies(cause -> message.set(String.valueOf(cause.getMessage())));
            });
    return message.get();
  }
}
