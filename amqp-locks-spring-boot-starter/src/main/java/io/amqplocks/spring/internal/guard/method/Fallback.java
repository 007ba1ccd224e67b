package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.lock.LockException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that is called instead when the lock is busy or the broker unavailable.
 *
 * @param method the method
 * @param takesFailure whether its last parameter is for the exception
 */
record Fallback(Method method, boolean takesFailure) {

  /** The exceptions for a busy lock. */
  static final Set<Class<? extends LockException>> BUSY =
      Set.of(LockException.AcquireTimeout.class);

  /** The exceptions for an outage. */
  static final Set<Class<? extends LockException>> OUTAGE =
      Set.of(LockException.Unreachable.class, LockException.Unanswered.class);

  /**
   * Finds it: the one with the exception, if there are both.
   *
   * @param failures what its last parameter must take
   * @throws IllegalArgumentException if there is none that fits; says what was looked for and found
   */
  static Fallback find(
      String name,
      Method guarded,
      Class<?> targetClass,
      Set<Class<? extends LockException>> failures) {
    List<Method> named =
        Arrays.stream(ReflectionUtils.getAllDeclaredMethods(targetClass))
            .filter(method -> method.getName().equals(name) && !method.isBridge())
            .toList();
    for (boolean takesFailure : new boolean[] {true, false}) {
      for (Method method : named) {
        if (fits(method, guarded, takesFailure ? failures : Set.of())) {
          ReflectionUtils.makeAccessible(method);
          return new Fallback(method, takesFailure);
        }
      }
    }
    throw new IllegalArgumentException(
        "no fallback method fits. Looked for, in %s and above: %s%s %s(%s), or with a further parameter of type"
                .formatted(
                    targetClass.getSimpleName(),
                    Modifier.isStatic(guarded.getModifiers()) ? "static " : "",
                    guarded.getGenericReturnType().getTypeName(),
                    name,
                    parameters(guarded))
            + " %sLockException or a supertype, throwing no checked exception that %s() does not. Found: %s"
                .formatted(
                    failures.equals(BUSY) ? "AcquireTimeout, " : "",
                    guarded.getName(),
                    named.isEmpty()
                        ? "no method called " + name
                        : named.stream()
                            .map(Method::toGenericString)
                            .collect(Collectors.joining(", "))));
  }

  private static String parameters(Method method) {
    return Arrays.stream(method.getGenericParameterTypes())
        .map(type -> type.getTypeName())
        .collect(Collectors.joining(", "));
  }

  private static boolean fits(
      Method method, Method guarded, Set<Class<? extends LockException>> failures) {
    boolean takesFailure = !failures.isEmpty();
    Class<?>[] wanted = guarded.getParameterTypes();
    Class<?>[] parameters = method.getParameterTypes();
    return !method.equals(guarded)
        && (!Modifier.isStatic(guarded.getModifiers()) || Modifier.isStatic(method.getModifiers()))
        && parameters.length == wanted.length + (takesFailure ? 1 : 0)
        && Arrays.equals(wanted, 0, wanted.length, parameters, 0, wanted.length)
        && (!takesFailure || takes(failures, parameters[wanted.length]))
        && (guarded.getReturnType() == void.class
            || (method.getReturnType() != void.class
                && ClassUtils.isAssignable(guarded.getReturnType(), method.getReturnType())))
        && Arrays.stream(method.getExceptionTypes()).allMatch(type -> mayThrow(type, guarded));
  }

  private static boolean takes(Set<Class<? extends LockException>> failures, Class<?> parameter) {
    return Throwable.class.isAssignableFrom(parameter)
        && failures.stream().allMatch(parameter::isAssignableFrom);
  }

  private static boolean mayThrow(Class<?> type, Method guarded) {
    return RuntimeException.class.isAssignableFrom(type)
        || Error.class.isAssignableFrom(type)
        || Arrays.stream(guarded.getExceptionTypes())
            .anyMatch(declared -> declared.isAssignableFrom(type));
  }

  /** Calls it on that object. */
  @Nullable Object call(
      @Nullable Object target, @Nullable Object[] arguments, LockException failure)
      throws Throwable {
    @Nullable Object[] all = arguments;
    if (takesFailure) {
      all = Arrays.copyOf(arguments, arguments.length + 1);
      all[arguments.length] = failure;
    }
    try {
      @Nullable Object[] given = all;
      Object result = RunningFallback.run(method, target, () -> invoke(target, given));
      return method.getReturnType() == void.class ? null : result;
    } catch (InvocationTargetException e) {
      throw e.getTargetException();
    }
  }

  /**
   * Calls the default method of a client of an HTTP interface by itself: Spring's proxy, which has
   * no object behind it, refuses to if the interface is not public.
   */
  private @Nullable Object invoke(@Nullable Object target, @Nullable Object[] arguments)
      throws Throwable {
    if (method.isDefault()
        && target instanceof Advised proxy
        && proxy.getTargetSource() instanceof EmptyTargetSource) {
      Class<?> type = method.getDeclaringClass();
      return MethodHandles.privateLookupIn(type, MethodHandles.lookup())
          .unreflectSpecial(method, type)
          .bindTo(target)
          .invokeWithArguments(arguments);
    }
    return method.invoke(target, arguments);
  }
}
