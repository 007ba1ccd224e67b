package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.guard.declared.KeyRoot;
import io.amqplocks.spring.internal.guard.declared.SuspendingFunction;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** What a native image must know of that is looked up by name, whatever the application is. */
final class LocksRuntimeHints implements RuntimeHintsRegistrar {

  @Override
  public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
    for (Class<?> annotation :
        List.of(
            SemaphoreGuarded.class,
            SemaphoreGuarded.List.class,
            MutexGuarded.class,
            MutexGuarded.List.class,
            ReadGuarded.class,
            ReadGuarded.List.class,
            WriteGuarded.class,
            WriteGuarded.List.class,
            LeaderOnly.class)) {
      hints.reflection().registerType(annotation, MemberCategory.INVOKE_PUBLIC_METHODS);
      hints.proxies().registerJdkProxy(annotation); // of attributes that are aliases
    }
    hints.reflection().registerType(KeyRoot.class, MemberCategory.INVOKE_PUBLIC_METHODS);
    SuspendingFunction.neededClasses()
        .forEach(name -> hints.reflection().registerTypeIfPresent(classLoader, name));
    // See UnfinishedResult.
    hints.reflection().registerTypeIfPresent(classLoader, "org.springframework.http.HttpEntity");
    // See ApplicationAddresses. By its name: an application without locks may have no RabbitMQ.
    hints
        .reflection()
        .registerType(
            TypeReference.of(
                "org.springframework.amqp.rabbit.connection.AbstractConnectionFactory"),
            type -> type.withMethod("getAddresses", List.of(), ExecutableMode.INVOKE));
  }
}
