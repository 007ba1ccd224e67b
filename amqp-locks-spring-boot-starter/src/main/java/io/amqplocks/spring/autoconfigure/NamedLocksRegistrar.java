package io.amqplocks.spring.autoconfigure;

import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.template.NamedLockFactoryBean;
import java.util.Set;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConstructorArgumentValues;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Makes each lock whose name has properties injectable, as {@code @Qualifier("images") LockHandle}.
 * Where a semaphore and a mutex have the same name, the bean's whole name tells them apart, which
 * is that of the properties: {@code amqp-locks.mutexes.report}. A read-write lock has two such
 * beans, which are told apart by their whole names: {@code amqp-locks.read-write-locks.prices.read}
 * and {@code amqp-locks.read-write-locks.prices.write}.
 *
 * <p>Beans of Spring's own kind rather than an annotation or a registry of ours: every constructor
 * takes them, a test replaces one by {@code @MockitoBean} or by a bean, and names that are not
 * known are an error at startup. For names that annotations alone define, or that are made up at
 * run time, there is {@code LockTemplate}, which is the registry. Without a qualifier nothing is
 * injected: the only configured lock must not turn up where one of the application's own was meant.
 */
final class NamedLocksRegistrar implements ImportBeanDefinitionRegistrar {

  private final Environment environment;

  NamedLocksRegistrar(Environment environment) {
    this.environment = environment;
  }

  @Override
  public void registerBeanDefinitions(
      AnnotationMetadata importing, BeanDefinitionRegistry registry) {
    Set<String> semaphores = names(FamilyId.group(Family.SEMAPHORE));
    Set<String> mutexes = names(FamilyId.group(Family.MUTEX));
    semaphores.forEach(
        name -> register(registry, Family.SEMAPHORE, name, "", !mutexes.contains(name)));
    mutexes.forEach(name -> register(registry, Family.MUTEX, name, "", !semaphores.contains(name)));
    for (String name : names(FamilyId.group(Family.READ_LOCK))) {
      register(registry, Family.READ_LOCK, name, ".read", false);
      register(registry, Family.WRITE_LOCK, name, ".write", false);
    }
  }

  private Set<String> names(String group) {
    return Binder.get(environment)
        .bind(group, Bindable.mapOf(String.class, Object.class))
        .map(configured -> ConfiguredNames.withoutVariables(configured).keySet())
        .orElse(Set.of());
  }

  /** A qualifier of its own replaces the bean's name as one: so none where that has to serve. */
  private static void register(
      BeanDefinitionRegistry registry, Family family, String name, String side, boolean unique) {
    String bean = FamilyId.group(family) + "." + name + side;
    if (registry.containsBeanDefinition(bean)) {
      return; // the application's own
    }
    RootBeanDefinition definition = new RootBeanDefinition(NamedLockFactoryBean.class);
    ConstructorArgumentValues arguments = definition.getConstructorArgumentValues();
    arguments.addIndexedArgumentValue(0, family);
    arguments.addIndexedArgumentValue(1, name);
    definition.setDefaultCandidate(false);
    // Or Spring would create it, and all the locks, whenever it looks for beans of some type.
    definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, LockHandle.class);
    if (unique) {
      definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, name));
    }
    registry.registerBeanDefinition(bean, definition);
  }
}
