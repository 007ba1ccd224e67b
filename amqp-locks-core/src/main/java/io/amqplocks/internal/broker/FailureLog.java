package io.amqplocks.internal.broker;

/**
 * Logs failures of an application's code.
 *
 * <p>Whoever catches such a failure goes on: others are still to be told, or the work is tried
 * again. That must not depend on the log. The logging library asks an exception for its message,
 * which is the application's code again and may throw.
 */
public final class FailureLog {

  private FailureLog() {}

  /** Runs that, which logs. Never throws. */
  public static void write(Runnable line) {
    try {
      line.run();
    } catch (Exception | Error e) {
      // There is no other way to say it.
    }
  }

  /** What the failure says, or its class if it cannot say anything. Never throws. */
  public static String text(Throwable failure) {
    try {
      return failure.toString();
    } catch (Exception | Error e) {
      return failure.getClass().getName();
    }
  }
}
