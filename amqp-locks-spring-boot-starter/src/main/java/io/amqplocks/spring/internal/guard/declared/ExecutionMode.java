package io.amqplocks.spring.internal.guard.declared;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;

/**
 * When a method's work ends, as its declaration says. This decides how its locks are acquired and
 * held.
 */
public enum ExecutionMode {
  /** The work ends when the method returns. The calling thread waits for the locks. */
  SYNCHRONOUS,
  /** The work ends when the returned stage completes. No thread waits for the locks. */
  STAGE,
  /** The work ends when the returned stage completes. An executor's thread waits for the locks. */
  ASYNC_STAGE,
  /** The work ends when the returned {@code Mono} ends, for each subscriber. */
  MONO,
  /** The work ends when the returned {@code Flux} ends, for each subscriber. */
  FLUX,
  /** The work ends when the suspending function of Kotlin does. No thread waits for the locks. */
  SUSPENDING;

  /** The mode of a method that {@link UnfinishedResult} does not refuse. */
  public static ExecutionMode of(Method method, Class<?> targetClass) {
    if (SuspendingFunction.is(method)) {
      return SUSPENDING;
    }
    Class<?> type = method.getReturnType();
    if (type == CompletableFuture.class || type == CompletionStage.class) {
      return isAsync(method, targetClass) ? ASYNC_STAGE : STAGE;
    }
    // Compared by name, because Reactor may be missing.
    return switch (type.getName()) {
      case "reactor.core.publisher.Mono" -> MONO;
      case "reactor.core.publisher.Flux" -> FLUX;
      default -> SYNCHRONOUS;
    };
  }

  /** What such a method has instead of a result at its return, for messages. */
  public String where(Method method) {
    return this == SUSPENDING
        ? "a function suspends"
        : method.getReturnType().getSimpleName() + " is returned";
  }

  /** Whether it runs on the thread of an executor. */
  public static boolean isAsync(Method method, Class<?> targetClass) {
    return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class)
        || MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY)
            .isPresent(Async.class);
  }
}
