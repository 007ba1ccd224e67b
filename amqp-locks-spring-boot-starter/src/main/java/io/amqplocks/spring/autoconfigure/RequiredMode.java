package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockConfigurationException;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/**
 * Stops the start if {@code amqp-locks.mode} asks for locks in memory, and the module that has them
 * is not on the class path. Otherwise the property would have no effect, and a test would use the
 * broker. Imports nothing; a selector is asked before any bean is there.
 */
final class RequiredMode implements ImportSelector, EnvironmentAware, BeanClassLoaderAware {

  private static final String MODE = "amqp-locks.mode";

  private @Nullable Environment environment;
  private @Nullable ClassLoader classes;

  @Override
  public void setEnvironment(Environment environment) {
    this.environment = environment;
  }

  @Override
  public void setBeanClassLoader(ClassLoader classes) {
    this.classes = classes;
  }

  @Override
  public String[] selectImports(AnnotationMetadata importing) {
    String mode =
        Binder.get(Objects.requireNonNull(environment)).bind(MODE, String.class).orElse("broker");
    require(mode, ClassUtils.isPresent("io.amqplocks.inmemory.InMemoryLocks", classes));
    return new String[0];
  }

  /**
   * Does nothing if the locks are at the broker, or if the module is there, which checks the rest.
   *
   * @throws LockConfigurationException otherwise
   */
  static void require(String mode, boolean isModulePresent) {
    if (!isModulePresent && !mode.toLowerCase(Locale.ROOT).equals("broker")) {
      throw new LockConfigurationException(
          "The property %s is '%s', and amqp-locks-in-memory is not on the class path."
              .formatted(MODE, mode),
          "Add amqp-locks-in-memory to the dependencies, in the scope test, or remove the property"
              + " to use the broker.");
    }
  }
}
