package io.amqplocks.spring.guard;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.LockTerms;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/**
 * Reads the annotations of a method, once, checks them, and enters what they say in the catalog: at
 * startup for the beans whose class is known then, else at the first call.
 */
public final class GuardedMethods {

  private static final Logger log = LoggerFactory.getLogger(GuardedMethods.class);

  private final LockCatalog catalog;
  private final StringValueResolver placeholders;
  private final Map<MethodClassKey, List<Guard>> guards = new ConcurrentHashMap<>();

  /** Resolves placeholders by that resolver. */
  public GuardedMethods(LockCatalog catalog, StringValueResolver placeholders) {
    this.catalog = catalog;
    this.placeholders = placeholders;
  }

  /** Whether the method has one of the annotations. */
  static boolean isGuarded(Method method) {
    return AnnotatedElementUtils.hasAnnotation(method, MutexGuarded.class)
        || AnnotatedElementUtils.hasAnnotation(method, SemaphoreGuarded.class);
  }

  /**
   * The locks that the method wants, in the order to acquire them.
   *
   * @throws IllegalStateException if an annotation is wrong or the method cannot be guarded
   */
  List<Guard> of(Method method, Class<?> targetClass) {
    MethodClassKey key = new MethodClassKey(method, targetClass);
    List<Guard> found = guards.get(key);
    if (found == null) {
      // Not within computeIfAbsent: the catalog calls watchers, which may take their time.
      Class<?> userClass = ClassUtils.getUserClass(targetClass);
      found = read(AopUtils.getMostSpecificMethod(method, userClass), userClass);
      guards.put(key, found);
    }
    return found;
  }

  /**
   * All annotations that can be read at startup have been.
   *
   * @throws IllegalStateException if what they say of a lock does not fit its algorithm
   */
  void complete() {
    List<LockId> locks = catalog.locks();
    log.debug("Annotations and properties name {}", locks);
  }

  private List<Guard> read(Method method, Class<?> targetClass) {
    String where = targetClass.getName() + "." + method.getName() + "()";
    UnguardableMethod.reasonFor(method)
        .ifPresent(
            reason -> {
              throw unguardable(where, reason);
            });
    List<Guard> result = new ArrayList<>(2);
    try {
      MutexGuarded mutex = AnnotatedElementUtils.findMergedAnnotation(method, MutexGuarded.class);
      if (mutex != null) {
        result.add(
            guard(
                LockTerms.annotated(LockId.mutex(resolve(mutex.name())), where)
                    .algorithm(mutex.algorithm())
                    .priority(mutex.priority()),
                mutex.maxWait()));
      }
      SemaphoreGuarded semaphore =
          AnnotatedElementUtils.findMergedAnnotation(method, SemaphoreGuarded.class);
      if (semaphore != null) {
        result.add(
            guard(
                LockTerms.annotated(LockId.semaphore(resolve(semaphore.name())), where)
                    .slots(semaphore.slots())
                    .algorithm(semaphore.algorithm())
                    .priority(semaphore.priority()),
                semaphore.maxWait()));
      }
    } catch (LockException.Invalid | IllegalArgumentException e) {
      throw new IllegalStateException(where + " has a wrong lock annotation: " + e.getMessage(), e);
    }
    return List.copyOf(result);
  }

  static IllegalStateException unguardable(String where, String reason) {
    return new IllegalStateException(where + " cannot be guarded by a lock: " + reason);
  }

  private Guard guard(LockTerms terms, String maxWait) {
    LockId id = terms.lock();
    int slots = terms.slots();
    if (slots < 0 || slots > SemaphoreAdmin.MAX_SLOTS) {
      throw new IllegalArgumentException(
          "slots of %s must be 1 to %d, or 0 for as configured, and not %d"
              .formatted(id, SemaphoreAdmin.MAX_SLOTS, slots));
    }
    catalog.add(terms);
    String wait = resolve(maxWait);
    return new Guard(id, wait.isBlank() ? catalog.waitFor(id) : parse(wait), terms.priority());
  }

  private static Duration parse(String maxWait) {
    Duration wait = DurationStyle.detectAndParse(maxWait);
    if (wait.isNegative()) {
      throw new IllegalArgumentException("maxWait must not be negative: " + maxWait);
    }
    return wait;
  }

  private String resolve(String text) {
    String resolved = placeholders.resolveStringValue(text);
    return resolved == null ? "" : resolved;
  }
}
