package io.amqplocks.lock;

import org.jspecify.annotations.Nullable;

/**
 * Something is broken or was used wrongly. What a caller must branch on in normal use, such as a busy
 * lock, is a value and not an exception; only a bounded {@link AmqpLock#acquire} that ran out of time
 * throws one. Each message names the lock, the cause and, where there is one, the remedy.
 */
public abstract sealed class LockException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private LockException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** No slot came free within the time that the caller would wait. */
  public static final class AcquireTimeout extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public AcquireTimeout(String message) {
      super(message, null);
    }
  }

  /** There is no such lock: nobody created or enabled it, or somebody destroyed or disabled it. */
  public static final class NotFound extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public NotFound(String message) {
      super(message, null);
    }
  }

  /** It exists otherwise than wanted: another number of slots, another type of queue. */
  public static final class Conflict extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public Conflict(String message) {
      super(message, null);
    }
  }

  /** A name, a number or a duration is not allowed. Nothing was sent to the broker. */
  public static final class Invalid extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public Invalid(String message) {
      super(message, null);
    }
  }

  /** A lease has no fencing token because it was not acquired by {@link AmqpLock#fenced()}. */
  public static final class NotFenced extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public NotFenced(String message) {
      super(message, null);
    }
  }

  /**
   * No fencing token can be had: the slot's counter was lost, or the broker cannot keep one. Nothing is
   * held then. See {@link FenceAdmin}.
   */
  public static final class FenceUnavailable extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public FenceUnavailable(String message) {
      super(message, null);
    }
  }

  /** No connection to the broker: it does not run, cannot be reached, or the connection broke. */
  public static final class Unreachable extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message and the client library's exception. */
    public Unreachable(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The broker refuses these credentials, this virtual host, or this user's access to a queue. */
  public static final class Refused extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message and the client library's exception. */
    public Refused(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The broker did not answer within the call timeout. What the call began is undone when it does. */
  public static final class Unanswered extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public Unanswered(String message) {
      super(message, null);
    }
  }

  /** The broker gave an answer that the protocol does not foresee. */
  public static final class Unexpected extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message and the client library's exception. */
    public Unexpected(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The thread was interrupted; its interrupt flag is set. What the call began is undone. */
  public static final class Interrupted extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public Interrupted(String message) {
      super(message, null);
    }
  }

  /**
   * A lease was lost before the work under it had ended, so others may have worked at the same time. What
   * the work did stays done; its own failure, if it had one, is the cause.
   */
  public static final class Lost extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message and what the work threw, if it did. */
    public Lost(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The {@code AmqpLocks} was closed before or during the call. */
  public static final class Closed extends LockException {
    private static final long serialVersionUID = 1L;

    /** With that message. */
    public Closed(String message) {
      super(message, null);
    }
  }
}
