package io.amqplocks.spring.internal.guard.woven;

import io.amqplocks.spring.internal.bytecode.CompiledAdvice;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import org.springframework.asm.Type;

/**
 * Tells the methods that {@code LockAspect} has been woven into. What was woven at load time shows
 * in the loaded class only; by which aspects, it does not say. But the agent that weaves one weaves
 * all that it finds in {@code META-INF/aop.xml}, ours among them. What was woven at compile time
 * shows in the class file, with the aspect.
 */
public final class WovenMethods {

  private static final String ASPECT = "io.amqplocks.spring.aspectj.LockAspect";

  private static final ClassValue<Boolean> ANY =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return bodies(type) > 0 || isWovenAbove(type);
        }
      };

  private WovenMethods() {}

  /** Whether there is advice of any aspect around methods of the class or those above it. */
  static boolean has(Class<?> type) {
    return ANY.get(type);
  }

  private static boolean isWovenAbove(Class<?> type) {
    Class<?> above = type.getSuperclass();
    return (above != null && has(above))
        || Arrays.stream(type.getInterfaces()).anyMatch(WovenMethods::has);
  }

  private static long bodies(Class<?> type) {
    try {
      return Arrays.stream(type.getDeclaredMethods())
          .filter(method -> method.getName().contains(CompiledAdvice.BODY))
          .count();
    } catch (LinkageError e) {
      return 0; // a type in its signatures is not there
    }
  }

  /** Whether its calls are guarded without a proxy. */
  public static boolean isWoven(Method method) {
    if (Modifier.isAbstract(method.getModifiers())) {
      return false;
    }
    Class<?> type = method.getDeclaringClass();
    CompiledAdvice compiled = CompiledAdvice.of(type, ASPECT);
    if (compiled.isAdvised(method)) {
      return true;
    }
    long loaded =
        Arrays.stream(type.getDeclaredMethods())
            .filter(
                each ->
                    CompiledAdvice.isBodyOf(method, each.getName(), Type.getMethodDescriptor(each)))
            .count();
    return loaded > compiled.count(method);
  }
}
