package io.amqplocks.spring.internal.setup;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockConfigurationException;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The exceptions of threads that needed the same semaphore, after one of them failed to create it.
 * Each of the others gets an exception of its own, of the same type, whose cause is the first one.
 */
final class SharedFailure {

  /** Copies exceptions whose constructors take no cause; the others are copied below. */
  private static final Map<Class<? extends LockException>, Function<String, LockException>> COPIES =
      Map.of(
          LockException.AcquireTimeout.class, LockException.AcquireTimeout::new,
          LockException.NotFound.class, LockException.NotFound::new,
          LockException.Conflict.class, LockException.Conflict::new,
          LockException.Unsupported.class, LockException.Unsupported::new,
          LockException.Invalid.class, LockException.Invalid::new,
          LockException.NotFenced.class, LockException.NotFenced::new,
          LockException.FenceUnavailable.class, LockException.FenceUnavailable::new,
          LockException.Interrupted.class, LockException.Interrupted::new,
          LockException.Unconfirmed.class, LockException.Unconfirmed::new,
          LockException.Closed.class, LockException.Closed::new);

  private SharedFailure() {}

  /** The exception of the thread that tried. */
  static RuntimeException asItIs(LockId id, @Nullable Throwable failure) {
    if (failure instanceof RuntimeException exception) {
      return exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("Creating " + id + " failed", failure);
  }

  /** The exception of a thread that waited. */
  static RuntimeException inAnotherThread(LockId id, @Nullable Throwable failure) {
    if (failure instanceof LockException broken) {
      return copy(broken);
    }
    if (failure instanceof LockConfigurationException wrong) {
      return new LockConfigurationException(wrong.description(), wrong.action(), wrong);
    }
    return new IllegalStateException("Creating " + id + " failed in another thread", failure);
  }

  private static LockException copy(LockException failure) {
    String message = Objects.toString(failure.getMessage(), "Failed in another thread");
    if (failure instanceof LockException.Unreachable) {
      return new LockException.Unreachable(message, failure);
    }
    if (failure instanceof LockException.Refused) {
      return new LockException.Refused(message, failure);
    }
    if (failure instanceof LockException.Unanswered) {
      LockException.Unanswered copy =
          failure.isOutage()
              ? new LockException.Unanswered(message)
              : LockException.Unanswered.contended(message);
      copy.addSuppressed(failure);
      return copy;
    }
    if (failure instanceof LockException.Lost) {
      return new LockException.Lost(message, failure);
    }
    Function<String, LockException> plain = COPIES.get(failure.getClass());
    LockException copy =
        plain == null ? new LockException.Unexpected(message, failure) : plain.apply(message);
    if (plain != null) {
      copy.addSuppressed(failure);
    }
    return copy;
  }
}
