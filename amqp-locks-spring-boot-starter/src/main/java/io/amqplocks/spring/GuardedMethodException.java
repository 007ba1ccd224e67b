package io.amqplocks.spring;

/**
 * A method cannot be guarded as its annotations say. The message names the method, the reason and
 * the remedy. It is thrown at startup, or at the first call of a bean whose class was not known
 * then.
 */
public final class GuardedMethodException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  /** An exception with that message, which names the method, the reason and the remedy. */
  public GuardedMethodException(String message) {
    super(message);
  }

  /** An exception with that message and cause. */
  public GuardedMethodException(String message, Throwable cause) {
    super(message, cause);
  }
}
