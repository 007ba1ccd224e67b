package io.amqplocks.spring;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import org.jspecify.annotations.Nullable;

/**
 * What threads are told that wanted the same semaphore created, and one of them tried and failed:
 * each other one an exception of its own, of the same type, which leads to the first.
 */
final class SharedFailure {

  private SharedFailure() {}

  /** For the thread that tried. */
  static RuntimeException asItIs(LockId id, @Nullable Throwable failure) {
    if (failure instanceof RuntimeException exception) {
      return exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return new IllegalStateException("Creating " + id + " failed", failure);
  }

  /** For one that waited for it. */
  static RuntimeException inAnotherThread(LockId id, @Nullable Throwable failure) {
    if (failure == null || failure.getMessage() == null) {
      return other(id, failure);
    }
    String message = failure.getMessage();
    if (failure instanceof LockException.Unreachable) {
      return new LockException.Unreachable(message, failure);
    }
    if (failure instanceof LockException.Refused) {
      return new LockException.Refused(message, failure);
    }
    if (failure instanceof LockException.Unexpected) {
      return new LockException.Unexpected(message, failure);
    }
    if (failure instanceof LockException.Unanswered) {
      return after(failure, new LockException.Unanswered(message));
    }
    if (failure instanceof LockException.AcquireTimeout) {
      return after(failure, new LockException.AcquireTimeout(message));
    }
    if (failure instanceof LockException.FenceUnavailable) {
      return after(failure, new LockException.FenceUnavailable(message));
    }
    if (failure instanceof LockException.Closed) {
      return after(failure, new LockException.Closed(message));
    }
    if (failure instanceof LockConfigurationException wrong) {
      return new LockConfigurationException(wrong.description(), wrong.action(), wrong);
    }
    return other(id, failure);
  }

  private static RuntimeException other(LockId id, @Nullable Throwable failure) {
    return new IllegalStateException("Creating " + id + " failed in another thread", failure);
  }

  /** Those take no cause. */
  private static LockException after(Throwable first, LockException copy) {
    copy.addSuppressed(first);
    return copy;
  }
}
