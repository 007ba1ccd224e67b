package io.amqplocks.lock;

import io.amqplocks.admin.FenceAdmin;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Something is broken or was used wrongly. Outcomes of normal use, such as a busy lock, are values
 * and not exceptions. The only exception to that is an {@link AmqpLock#acquire} that ran out of
 * time. Each message names the lock, the cause and, where there is one, the remedy.
 */
public abstract sealed class LockException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private transient volatile @Nullable LockId lock;

  private LockException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * The lock that the failed call should have acquired, with its key, or the lock of the lease that
   * was checked at the end of a guarded method or of its transaction. Empty for other calls, such
   * as those of administration, and after serialization.
   */
  public Optional<LockId> lock() {
    return Optional.ofNullable(lock);
  }

  /**
   * Sets {@link #lock()}, unless it is set. The library and test doubles call this before they
   * throw the exception.
   */
  public void initLock(LockId id) {
    if (lock == null) {
      lock = id;
    }
  }

  /**
   * Whether the broker could not be reached or did not do its part, so that nobody knows who holds
   * the lock. The work under the lock was not done, or its transaction was rolled back. It is false
   * for a busy lock, for wrong use, and for anything else that others have in
   * use.
   */
  public boolean isOutage() {
    return false;
  }

  /** No slot became free within the time that the caller would wait. */
  public static final class AcquireTimeout extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public AcquireTimeout(String message) {
      super(message, null);
    }
  }

  /** There is no such lock. Nobody created or enabled it, or somebody destroyed or disabled it. */
  public static final class NotFound extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public NotFound(String message) {
      super(message, null);
    }
  }

  /** The lock exists, but with another number of slots or another type of queue than requested. */
  public static final class Conflict extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public Conflict(String message) {
      super(message, null);
    }
  }

  /** A name, a number or a duration is not allowed. Nothing was sent to the broker. */
  public static final class Invalid extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public Invalid(String message) {
      super(message, null);
    }
  }

  /** The lease has no fencing token: see {@link Lease#fencingToken()}. */
  public static final class NotFenced extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public NotFenced(String message) {
      super(message, null);
    }
  }

  /**
   * No fencing token is available: the slot's counter was lost, or the broker cannot keep one.
   * Nothing is held then. See {@link FenceAdmin}.
   */
  public static final class FenceUnavailable extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public FenceUnavailable(String message) {
      super(message, null);
    }
  }

  /**
   * There is no connection to the broker: it does not run, it cannot be reached, or the connection
   * broke.
   */
  public static final class Unreachable extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message and the client library's exception. */
    public Unreachable(String message, @Nullable Throwable cause) {
      super(message, cause);
    }

    @Override
    public boolean isOutage() {
      return true;
    }
  }

  /** The broker refuses the credentials, the virtual host, or the user's access to a queue. */
  public static final class Refused extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message and the client library's exception. */
    public Refused(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * The broker did not reply within the call timeout. What the call began is undone when it does. A
   * fenced acquire of a lock with a key also fails so if others draw from its counter all the time.
   * So does the acquire of a fenced mutex while it is being created, which goes on meanwhile.
   */
  public static final class Unanswered extends LockException {
    private static final long serialVersionUID = 1L;

    private final boolean outage;

    /** Creates the exception with that message, for a broker that did not do its part. */
    public Unanswered(String message) {
      this(message, true);
    }

    private Unanswered(String message, boolean outage) {
      super(message, null);
      this.outage = outage;
    }

    /** The exception where others had in use what the call needed, so that it is no outage. */
    public static Unanswered contended(String message) {
      return new Unanswered(message, false);
    }

    @Override
    public boolean isOutage() {
      return outage;
    }
  }

  /**
   * The broker cannot do what the lock needs. RabbitMQ can, from 3.10 on. Nothing is held, and
   * nothing was created.
   */
  public static final class Unsupported extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public Unsupported(String message) {
      super(message, null);
    }
  }

  /** The broker sent a reply that the protocol does not foresee. */
  public static final class Unexpected extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message and the client library's exception. */
    public Unexpected(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /** The thread was interrupted, and its interrupt flag is set. What the call began is undone. */
  public static final class Interrupted extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public Interrupted(String message) {
      super(message, null);
    }
  }

  /**
   * The lease was lost before the work under it had ended, so others may have worked at the same
   * time. What the work did stays done. If the work itself failed, that failure is the cause.
   */
  public static final class Lost extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message and the failure of the work, if it failed. */
    public Lost(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * The broker did not confirm the lease to the end of the work under it, so others may have worked
   * at the same time. The result of the work is withheld. What it did stays done. So this is no
   * {@linkplain #isOutage() outage}, after which a call may be repeated.
   */
  public static final class Unconfirmed extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public Unconfirmed(String message) {
      super(message, null);
    }
  }

  /** The {@code AmqpLocks} was closed before or during the call. */
  public static final class Closed extends LockException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception with that message. */
    public Closed(String message) {
      super(message, null);
    }
  }
}
