package io.amqplocks.spring.guard;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Async;

/** Until when a method works, as its declaration says, and so how its locks are had and held. */
enum Work {
  /** Until it returns: on the calling thread, which waits for the locks. */
  PLAIN,
  /** Until the returned stage completes: no thread waits for the locks. */
  STAGE,
  /** Until the returned stage completes; the thread is an executor's, which waits for the locks. */
  ASYNC_STAGE,
  /** Until the returned {@code Mono} ends, for each subscriber. */
  MONO,
  /** Until the returned {@code Flux} ends, for each subscriber. */
  FLUX;

  /** That of a method that {@link LaterWork} does not refuse. */
  static Work of(Method method, Class<?> targetClass) {
    Class<?> type = method.getReturnType();
    if (type == CompletableFuture.class || type == CompletionStage.class) {
      return isAsync(method, targetClass) ? ASYNC_STAGE : STAGE;
    }
    // By name: Reactor may be missing.
    return switch (type.getName()) {
      case "reactor.core.publisher.Mono" -> MONO;
      case "reactor.core.publisher.Flux" -> FLUX;
      default -> PLAIN;
    };
  }

  private static boolean isAsync(Method method, Class<?> targetClass) {
    return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Async.class)
        || MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY)
            .isPresent(Async.class);
  }
}
