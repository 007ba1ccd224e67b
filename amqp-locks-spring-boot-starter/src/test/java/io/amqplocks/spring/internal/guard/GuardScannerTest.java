package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class GuardScannerTest {

  /** Stands for a type of an optional dependency. */
  static class Absent {}

  static class NeedsIt {
    @MutexGuarded(name = "unreadable")
    @Nullable Absent work() {
      return null;
    }
  }

  static class Needless {
    @MutexGuarded(name = "readable")
    void work() {}
  }

  /** Has {@link NeedsIt} of its own, and no {@link Absent}. */
  static final class Lacking extends ClassLoader {
    Lacking() {
      super(GuardScannerTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.equals(Absent.class.getName())) {
        throw new ClassNotFoundException(name);
      }
      if (name.equals(NeedsIt.class.getName()) && findLoadedClass(name) == null) {
        byte[] code = code(NeedsIt.class);
        return defineClass(name, code, 0, code.length);
      }
      return super.loadClass(name, resolve);
    }

    private static byte[] code(Class<?> type) {
      String file = type.getName().substring(type.getPackageName().length() + 1) + ".class";
      try (InputStream in = type.getResourceAsStream(file)) {
        assertThat(in).isNotNull();
        return in.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class WithoutABean {
    @Bean
    @Nullable Needless needless() {
      return null;
    }
  }

  @Test
  void aBeanThatIsNullStopsNothing() {
    Contexts.withoutBroker()
        .withUserConfiguration(WithoutABean.class)
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void anUnreadableClassOfABeanThatIsNotCreatedStopsNothing() throws ClassNotFoundException {
    Class<?> unreadable = Class.forName(NeedsIt.class.getName(), false, new Lacking());
    Contexts.withoutBroker()
        .withInitializer(
            context ->
                ((DefaultListableBeanFactory) context.getBeanFactory())
                    .registerBeanDefinition(
                        "a",
                        BeanDefinitionBuilder.rootBeanDefinition(unreadable)
                            .setLazyInit(true)
                            .getBeanDefinition()))
        .withBean("b", Needless.class)
        .run(
            context ->
                assertThat(context)
                    .hasNotFailed()
                    .getBean(LockCatalog.class)
                    .satisfies(
                        catalog ->
                            assertThat(catalog.locks()).containsExactly(LockId.mutex("readable"))));
  }
}
