package io.amqplocks.spring.internal.async;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Which stages may be cancelled while a lock depends on them. To cancel a {@code CompletableFuture}
 * completes it at once, and what works on it goes on: its lock would be free while the work is not
 * done. A class that brings a {@code cancel} of its own, as the futures of the JDK's HTTP client
 * and of {@code Mono.toFuture()}, does so in order to end the work.
 */
final class CancellableStage {

  /** Forgotten with the class. */
  private static final ClassValue<Boolean> ENDS_WORK =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          try {
            return type.getMethod("cancel", boolean.class).getDeclaringClass()
                != CompletableFuture.class;
          } catch (NoSuchMethodException e) {
            return false;
          }
        }
      };

  private CancellableStage() {}

  /** The stage if cancelling it ends its work, else null. */
  static @Nullable Future<?> of(CompletionStage<?> stage) {
    return stage instanceof Future<?> future && ENDS_WORK.get(stage.getClass()) ? future : null;
  }
}
