package io.amqplocks.spring.guard;

/**
 * A method's lock annotation cannot do what it says; the message tells which method, why, and what to
 * do. Thrown at startup, or at the first call of a bean whose class was not known then.
 */
public final class GuardedMethodException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  GuardedMethodException(String message) {
    super(message);
  }

  GuardedMethodException(String message, Throwable cause) {
    super(message, cause);
  }
}
