package io.amqplocks.spring.internal.guard;

import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.internal.bytecode.SelfCall;
import io.amqplocks.spring.internal.guard.declared.DeclaredMethod;
import io.amqplocks.spring.internal.guard.method.Guard;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Warns of calls from within an object of its own guarded methods: they do not go through the
 * proxy, and so run without the lock. It tells what the bytecode shows: calls on {@code this} in
 * the bean's class, the classes above it and their interfaces, also in lambdas.
 *
 * <p>A caller that is guarded by the same locks holds them during the call, and there is nothing to
 * warn of. Where keys decide, that cannot be known, and it warns.
 */
final class SelfInvocations {

  private static final Logger log = LoggerFactory.getLogger(SelfInvocations.class);

  private final GuardedMethods methods;
  private final Set<Class<?>> known = new HashSet<>(); // several beans may have a class

  SelfInvocations(GuardedMethods methods) {
    this.methods = methods;
  }

  void warn(Class<?> type, Set<Method> guarded) {
    if (type.isInterface() || DeclaredMethod.isMadeFromInterface(type) || !known.add(type)) {
      return;
    }
    for (SelfCall call : SelfCall.in(type)) {
      for (Method called : guarded) {
        if (isOf(call, called) && !isCovered(call, called, type, guarded)) {
          tell(type, call, methods.of(called, type));
        }
      }
    }
  }

  private static boolean isOf(SelfCall call, Method method) {
    return call.name().equals(method.getName())
        && call.descriptor().equals(Type.getMethodDescriptor(method));
  }

  private static boolean isBy(SelfCall call, Method method) {
    return call.caller().equals(method.getName())
        && call.callerDescriptor().equals(Type.getMethodDescriptor(method));
  }

  private boolean isCovered(SelfCall call, Method called, Class<?> type, Set<Method> guarded) {
    Set<FamilyId> wanted = locks(called, type);
    return guarded.stream()
        .filter(caller -> isBy(call, caller))
        .anyMatch(caller -> haveAll(locks(caller, type), wanted) && !isKeyed(called, type));
  }

  /** A writer may read too. */
  private static boolean haveAll(Set<FamilyId> held, Set<FamilyId> wanted) {
    return wanted.stream()
        .allMatch(
            lock ->
                held.contains(lock)
                    || (lock.family() == Family.READ_LOCK
                        && lock.otherSide().filter(held::contains).isPresent()));
  }

  private boolean isKeyed(Method method, Class<?> type) {
    return methods.of(method, type).guards().stream().anyMatch(guard -> guard.key() != null);
  }

  /** The locks of the method that have no key. */
  private Set<FamilyId> locks(Method method, Class<?> type) {
    return methods.of(method, type).guards().stream()
        .filter(guard -> guard.key() == null)
        .map(Guard::lock)
        .collect(Collectors.toSet());
  }

  private static void tell(Class<?> type, SelfCall call, GuardedMethod called) {
    List<String> locks = called.guards().stream().map(Guard::described).toList();
    boolean areOverloads = call.caller().equals(call.name());
    log.warn(
        "{} calls {}({}) on the same object. That does not go through the proxy, so the call runs without"
            + " the {}. Move one of the two methods to another bean, use LockTemplate for the call, or guard"
            + " such calls too by amqp-locks.annotations.mode=aspectj",
        call.caller().equals("<init>")
            ? "The constructor of " + type.getName()
            : "%s.%s(%s)"
                .formatted(
                    type.getName(),
                    call.caller(),
                    areOverloads ? parameters(call.callerDescriptor()) : ""),
        call.name(),
        areOverloads ? parameters(call.descriptor()) : "",
        String.join(" and the ", locks));
  }

  private static String parameters(String descriptor) {
    return Arrays.stream(Type.getArgumentTypes(descriptor))
        .map(type -> ClassUtils.getShortName(type.getClassName()))
        .collect(Collectors.joining(", "));
  }
}
