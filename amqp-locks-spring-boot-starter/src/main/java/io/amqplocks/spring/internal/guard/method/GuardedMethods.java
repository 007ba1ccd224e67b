package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.MethodClassKey;
import org.springframework.expression.BeanResolver;
import org.springframework.util.StringValueResolver;

/**
 * The guarded methods. Each is read once: at startup for beans whose class is known by then, and
 * otherwise at the first call.
 */
public final class GuardedMethods {

  private static final Logger log = LoggerFactory.getLogger(GuardedMethods.class);

  private final LockCatalog catalog;
  private final GuardReader reader;
  private final Map<MethodClassKey, GuardedMethod> known = new ConcurrentHashMap<>();

  /** Resolves placeholders by that resolver, and beans in keys by the other one. */
  public GuardedMethods(
      LockCatalog catalog, StringValueResolver placeholders, @Nullable BeanResolver beans) {
    this(
        catalog,
        placeholders,
        beans,
        OnUnavailable.WAIT,
        lock -> {},
        new LossLog(),
        AdviceMode.PROXY);
  }

  /**
   * Resolves placeholders by that resolver, and beans in keys by the other one.
   *
   * @param onUnavailable what counts where an annotation does not say
   * @param unguarded is notified of each call that runs without a lock
   * @param losses logs leases that are lost while a method works
   * @param mode what guards the methods
   */
  public GuardedMethods(
      LockCatalog catalog,
      StringValueResolver placeholders,
      @Nullable BeanResolver beans,
      OnUnavailable onUnavailable,
      Consumer<LockId> unguarded,
      LossLog losses,
      AdviceMode mode) {
    this.catalog = catalog;
    reader = new GuardReader(catalog, placeholders, beans, onUnavailable, unguarded, losses, mode);
  }

  /**
   * Reads the method, or finds it among those that were read.
   *
   * @throws GuardedMethodException if an annotation is wrong or the method cannot be guarded
   */
  public GuardedMethod of(Method method, Class<?> targetClass) {
    MethodClassKey key = new MethodClassKey(method, targetClass);
    GuardedMethod found = known.get(key);
    if (found == null) {
      found = of(DeclaredMethod.of(method, targetClass));
      known.put(key, found);
    }
    return found;
  }

  private GuardedMethod of(DeclaredMethod declared) {
    GuardedMethod found = known.get(declared.key());
    if (found == null) {
      // Not within computeIfAbsent: the catalog calls watchers, which may take their time.
      found = reader.read(declared.method(), declared.type());
      known.put(declared.key(), found);
    }
    return found;
  }

  /** All that are known by now. */
  public List<GuardedMethod> all() {
    return known.values().stream().distinct().toList(); // some by two keys
  }

  /**
   * All annotations that can be read at startup have been.
   *
   * @throws IllegalStateException if what they say of a lock does not fit its algorithm
   */
  public void complete() {
    List<LockId> locks = catalog.locks();
    log.debug("Annotations and properties name {}", locks);
  }
}
