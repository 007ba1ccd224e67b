package io.amqplocks.internal.broker;

import io.amqplocks.lock.LockException;
import java.util.function.Function;

/**
 * The failure of an attempt that several callers share. Each is told of it by an exception of its
 * own, which names its own lock.
 */
public final class SharedFailure extends Exception {

  private static final long serialVersionUID = 1L;

  private final transient Function<Call, LockException> words;

  SharedFailure(Function<Call, LockException> words) {
    this.words = words;
  }

  /** The error for that caller. */
  LockException to(Call call) {
    return words.apply(call);
  }
}
