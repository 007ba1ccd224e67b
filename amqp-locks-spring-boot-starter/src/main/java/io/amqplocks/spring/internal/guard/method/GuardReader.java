package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.declared.CallExpression;
import io.amqplocks.spring.internal.guard.declared.DeclaredLock;
import io.amqplocks.spring.internal.guard.declared.ExecutionMode;
import io.amqplocks.spring.internal.guard.declared.GuardAnnotations;
import io.amqplocks.spring.internal.guard.declared.KeyExpression;
import io.amqplocks.spring.internal.guard.declared.Permits;
import io.amqplocks.spring.internal.guard.declared.SuspendingFunction;
import io.amqplocks.spring.internal.guard.declared.UnguardableMethod;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.time.Ticker;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.ResolvableType;
import org.springframework.expression.BeanResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

/**
 * Reads what a method's annotations say, checks it, and enters it in the catalog.
 *
 * <p>The file is above 300 lines because all attributes are read and refused in one place.
 */
final class GuardReader {

  private final LockCatalog catalog;
  private final StringValueResolver placeholders;
  private final @Nullable BeanResolver beans;
  private final OnUnavailable onUnavailable;
  private final Consumer<LockId> unguarded;
  private final LossLog losses;
  private final AdviceMode mode;

  /**
   * A reader of annotations.
   *
   * @param onUnavailable what counts where an annotation does not say
   * @param unguarded is notified of each call that runs without a lock
   * @param losses logs leases that are lost while a method works
   * @param mode what guards the methods
   */
  GuardReader(
      LockCatalog catalog,
      StringValueResolver placeholders,
      @Nullable BeanResolver beans,
      OnUnavailable onUnavailable,
      Consumer<LockId> unguarded,
      LossLog losses,
      AdviceMode mode) {
    this.catalog = catalog;
    this.placeholders = placeholders;
    this.beans = beans;
    this.onUnavailable =
        onUnavailable == OnUnavailable.DEFAULT ? OnUnavailable.WAIT : onUnavailable;
    this.unguarded = unguarded;
    this.losses = losses;
    this.mode = mode;
  }

  /**
   * What the method wants.
   *
   * @param method that of the target's class
   * @throws GuardedMethodException if an annotation is wrong or the method cannot be guarded
   */
  GuardedMethod read(Method method, Class<?> targetClass) {
    String where = targetClass.getName() + "." + method.getName() + "()";
    UnguardableMethod.reasonFor(method, targetClass, mode)
        .ifPresent(
            reason -> {
              throw new GuardedMethodException(where + " cannot be guarded by a lock: " + reason);
            });
    try {
      List<DeclaredLock> declared = declared(method, targetClass, where);
      requireDifferent(declared);
      ExecutionMode mode = ExecutionMode.of(method, targetClass);
      Injection injection = Injection.of(method);
      int injected = injection.isNone() ? -1 : injected(declared);
      List<Guard> guards =
          IntStream.range(0, declared.size())
              .mapToObj(
                  i ->
                      named(
                          declared.get(i),
                          new Place(method, targetClass, where, mode),
                          i == injected,
                          i == injected && injection.token() >= 0))
              .toList();
      return new GuardedMethod(
          where, guards, mode, injection, injected, emptyResult(mode, method, targetClass), losses);
    } catch (LockException.Invalid | IllegalArgumentException e) {
      throw new GuardedMethodException(
          where + " has a wrong lock annotation: " + e.getMessage(), e);
    }
  }

  /** The guard of one annotation. What is wrong with it is said with the lock's name. */
  private Guard named(DeclaredLock declared, Place place, boolean needsLease, boolean needsToken) {
    try {
      return guard(declared, place, needsLease, needsToken);
    } catch (LockException.Invalid | IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      String lock = declared.lock().toString();
      throw message.contains(lock)
          ? e
          : new IllegalArgumentException("%s (%s)".formatted(message, lock), e);
    }
  }

  /** The method whose annotations are read. */
  private record Place(Method method, Class<?> targetClass, String where, ExecutionMode mode) {}

  private List<DeclaredLock> declared(Method method, Class<?> targetClass, String where) {
    return GuardAnnotations.of(method, targetClass).stream()
        .map(found -> DeclaredLock.of(found, where, this::resolve))
        .toList();
  }

  private static void requireDifferent(List<DeclaredLock> declared) {
    for (int i = 0; i < declared.size(); i++) {
      for (DeclaredLock other : declared.subList(i + 1, declared.size())) {
        DeclaredLock one = declared.get(i);
        if (one.isSameLock(other)) {
          throw new IllegalArgumentException(
              one.lock().equals(other.lock())
                  ? "it wants the %s twice, and would wait for itself: leave one annotation out"
                      .formatted(other.lock())
                  : "it wants the %s and the %s, and would wait for itself: leave @ReadGuarded out, because a writer may read"
                      .formatted(one.lock(), other.lock()));
        }
        if (one.isFencedBesideWriter(other) || other.isFencedBesideWriter(one)) {
          throw new IllegalArgumentException(
              ("it wants the %s and the %s by two keys. If they are equal, it has the write lock only:"
                      + " say fenced = true there, and not at @ReadGuarded")
                  .formatted(one.lock(), other.lock()));
        }
        if (one.contradicts(other)) {
          throw new IllegalArgumentException(
              ("it wants the %s by two keys, which may be equal and then are one lock, and says different"
                      + " things of the two: give both the same onBusy, onUnavailable, fallbackMethod, onLost, permits, holdAtLeast, holdAtMost, releaseAfter and maxWait")
                  .formatted(
                      one.lock().equals(other.lock())
                          ? one.lock()
                          : one.lock() + " and the " + other.lock()));
        }
      }
    }
  }

  private static int injected(List<DeclaredLock> declared) {
    int[] fenced =
        IntStream.range(0, declared.size())
            .filter(i -> declared.size() == 1 || declared.get(i).fenced())
            .toArray();
    if (fenced.length != 1) {
      throw new IllegalArgumentException(
          "it has several locks, and a parameter for the token or the lease of one:"
              + " say fenced = true at the one that is meant, and only there");
    }
    return fenced[0];
  }

  private static @Nullable Object emptyResult(
      ExecutionMode mode, Method method, Class<?> targetClass) {
    return switch (mode) {
      case SYNCHRONOUS -> EmptyResult.of(method.getReturnType());
      case STAGE, ASYNC_STAGE ->
          EmptyResult.of(
              ResolvableType.forMethodReturnType(method, targetClass)
                  .getGeneric(0)
                  .resolve(Object.class));
      case MONO, FLUX, SUSPENDING -> null; // an empty one
    };
  }

  private Guard guard(DeclaredLock declared, Place place, boolean needsLease, boolean needsToken) {
    FamilyId id = declared.lock();
    int slots = declared.settings().slots();
    if (slots < 0 || slots > SlotSemaphoreAdmin.MAX_SLOTS) {
      throw new IllegalArgumentException(
          "slots of %s must be 1 to %d, or 0 for as configured, and not %d"
              .formatted(id, SlotSemaphoreAdmin.MAX_SLOTS, slots));
    }
    boolean keyed = !declared.key().isBlank();
    if (declared.onLost() == OnLost.INTERRUPT && place.mode != ExecutionMode.SYNCHRONOUS) {
      throw new IllegalArgumentException(
          "onLost = INTERRUPT has no thread to interrupt where %s: use FAIL"
              .formatted(place.mode.where(place.method)));
    }
    if (declared.releaseAfter() == ReleaseAfter.TRANSACTION) {
      TransactionCheck.requirePossible(place.method, place.targetClass, place.mode);
    }
    KeyExpression key =
        keyed ? KeyExpression.parse(declared.key(), place.method, place.where, beans) : null;
    Permits permits = permits(declared, place);
    OutageRule outage =
        declared.onUnavailable() == OnUnavailable.DEFAULT
            ? new OutageRule(onUnavailable, " (by amqp-locks.annotations.on-unavailable)")
            : new OutageRule(declared.onUnavailable(), "");
    if (outage.what == OnUnavailable.RUN && (needsLease || declared.fenced())) {
      throw new IllegalArgumentException(
          "onUnavailable = RUN%s has no lease and no fencing token for it: use another policy"
              .formatted(outage.origin));
    }
    Fallback fallback = fallback(declared, outage, place);
    Duration wait = wait(declared);
    if (keyed) {
      catalog.addKeyed(declared.settings());
    } else {
      catalog.add(declared.settings());
    }
    return new Guard(
        id,
        key,
        permits,
        wait == null ? catalog.waitFor(id) : wait,
        declared.shortestHold(),
        declared.longestHold(),
        declared.settings().priority(),
        declared.fenced() || needsToken,
        declared.fair(),
        declared.onBusy(),
        outage.what,
        fallback,
        declared.onLost(),
        declared.releaseAfter(),
        outage.what == OnUnavailable.RUN
            ? new UnguardedRuns(place.where, unguarded, Ticker.SYSTEM)
            : null);
  }

  /** What to do when the broker is unavailable, and for messages where that is said. */
  private record OutageRule(OnUnavailable what, String origin) {}

  private Permits permits(DeclaredLock declared, Place place) {
    if (declared.permitsExpression().isBlank()) {
      return Permits.of(declared.permits());
    }
    if (declared.permits() != 1) {
      throw new IllegalArgumentException(
          "permits = %d and the permitsExpression '%s' both say how many slots of %s it holds: leave one out"
              .formatted(declared.permits(), declared.permitsExpression(), declared.lock()));
    }
    return Permits.of(
        CallExpression.parse(
            "permitsExpression", declared.permitsExpression(), place.method, place.where, beans));
  }

  private static @Nullable Fallback fallback(
      DeclaredLock declared, OutageRule outage, Place place) {
    boolean skipsWhenBusy = declared.onBusy() == OnBusy.SKIP;
    if ((skipsWhenBusy || outage.what == OnUnavailable.SKIP)
        && place.mode == ExecutionMode.SYNCHRONOUS
        && EmptyResult.isMissingIn(place.method.getReturnType())) {
      throw new IllegalArgumentException(
          "%s has nothing to return for a primitive %s: return %s or an Optional, or use another policy"
              .formatted(
                  skipsWhenBusy ? "onBusy = SKIP" : "onUnavailable = SKIP" + outage.origin,
                  place.method.getReturnType(),
                  ClassUtils.resolvePrimitiveIfNecessary(place.method.getReturnType())
                      .getSimpleName()));
    }
    if ((skipsWhenBusy || outage.what == OnUnavailable.SKIP)
        && place.mode == ExecutionMode.SUSPENDING
        && !SuspendingFunction.mayBringNothing(place.method, place.targetClass)) {
      throw new IllegalArgumentException(
          "%s has nothing to return where the result of a suspending function is not nullable: let it be nullable, or use another policy"
              .formatted(skipsWhenBusy ? "onBusy = SKIP" : "onUnavailable = SKIP" + outage.origin));
    }
    Set<Class<? extends LockException>> failures = new HashSet<>();
    if (declared.onBusy() == OnBusy.FALLBACK) {
      failures.addAll(Fallback.BUSY);
    }
    if (outage.what == OnUnavailable.FALLBACK) {
      failures.addAll(Fallback.OUTAGE);
    }
    boolean wanted = !failures.isEmpty();
    if (wanted && place.mode == ExecutionMode.SUSPENDING) {
      throw new IllegalArgumentException(
          "%s is not for a suspending function: let its caller catch the LockException, and call the other function"
              .formatted(
                  declared.onBusy() == OnBusy.FALLBACK
                      ? "onBusy = FALLBACK"
                      : "onUnavailable = FALLBACK" + outage.origin));
    }
    if (wanted == declared.fallbackMethod().isBlank()) {
      throw new IllegalArgumentException(
          wanted
              ? "%s needs a fallbackMethod: name one"
                  .formatted(
                      declared.onBusy() == OnBusy.FALLBACK
                          ? "onBusy = FALLBACK"
                          : "onUnavailable = FALLBACK" + outage.origin)
              : "a fallbackMethod is for onBusy = FALLBACK or onUnavailable = FALLBACK: say that too,"
                  + " or leave it out");
    }
    return wanted
        ? Fallback.find(declared.fallbackMethod(), place.method, place.targetClass, failures)
        : null;
  }

  /** How long to wait, if that is not for properties to say. */
  private @Nullable Duration wait(DeclaredLock declared) {
    if (declared.maxWait().isBlank() && declared.onBusy() != OnBusy.WAIT) {
      return Duration.ZERO;
    }
    if (!declared.maxWait().isBlank() && declared.onBusy() == OnBusy.THROW) {
      throw new IllegalArgumentException(
          "onBusy = THROW does not wait: leave maxWait out, or use WAIT");
    }
    return declared.longestWait();
  }

  private String resolve(String text) {
    String resolved = placeholders.resolveStringValue(text);
    return resolved == null ? "" : resolved;
  }
}
