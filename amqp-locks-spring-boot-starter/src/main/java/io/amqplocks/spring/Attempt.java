package io.amqplocks.spring;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of {@code tryExecute}: either the work ran and had this result, which may be null, or
 * the lock was busy and the work did not run.
 *
 * @param <T> the result of the work
 */
public final class Attempt<T extends @Nullable Object> {

  private static final Attempt<?> BUSY = new Attempt<>(false, null);

  private final boolean executed;
  private final @Nullable T result;

  private Attempt(boolean executed, @Nullable T result) {
    this.executed = executed;
    this.result = result;
  }

  static <T extends @Nullable Object> Attempt<T> executed(T result) {
    return new Attempt<>(true, result);
  }

  @SuppressWarnings("unchecked") // it has no result, so it is one of every type
  static <T extends @Nullable Object> Attempt<T> busy() {
    return (Attempt<T>) BUSY;
  }

  /** Whether the work ran; false if the lock was busy. */
  public boolean executed() {
    return executed;
  }

  /** The result of the work, or the supplier's value if the lock was busy. */
  public T orElseGet(Supplier<? extends T> whenBusy) {
    return executed ? value() : whenBusy.get();
  }

  /** The result of the work, or the given value if the lock was busy. */
  public T orElse(T whenBusy) {
    return executed ? value() : whenBusy;
  }

  /** The result of the work. Throws the supplied exception if the lock was busy. */
  public <X extends Throwable> T orElseThrow(Supplier<X> whenBusy) throws X {
    if (!executed) {
      throw whenBusy.get();
    }
    return value();
  }

  @SuppressWarnings("NullAway") // null only where T allows it
  private T value() {
    return result;
  }

  @Override
  public String toString() {
    return executed ? "executed: " + result : "busy";
  }
}
