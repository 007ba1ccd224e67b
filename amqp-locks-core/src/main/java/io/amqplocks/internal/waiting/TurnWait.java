package io.amqplocks.internal.waiting;

import io.amqplocks.internal.broker.Call;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * One administrator's wait for another one that has the turn. The turn is an exclusive queue of the
 * connection that does all the work. The broker notifies nobody when such a queue goes, so it is
 * declared again and again, with pauses that grow.
 *
 * <p>Concurrency: for one thread.
 */
public final class TurnWait {

  /** How long one administrator waits for another, unless its caller has less time. */
  public static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** What is left of the wait for the reply to the last request. */
  private static final long LAST_NANOS = Duration.ofMillis(20).toNanos();

  private final Call wait;
  private final LongConsumer sleep;
  private final Supplier<? extends RuntimeException> tooLong;
  private final Backoff backoff = new Backoff();

  /**
   * Begins to wait.
   *
   * @param wait the bound of the wait
   * @param sleep sleeps for so many nanoseconds; throws if it must not go on after an interrupt
   * @param tooLong the error of a wait that is over
   */
  public TurnWait(Call wait, LongConsumer sleep, Supplier<? extends RuntimeException> tooLong) {
    this.wait = wait;
    this.sleep = sleep;
    this.tooLong = tooLong;
  }

  /** Waits until the turn is taken. */
  public void until(BooleanSupplier taken) {
    while (!taken.getAsBoolean()) {
      pause();
    }
  }

  /** Waits before the next request. Throws if the wait is over. */
  public void pause() {
    long left = wait.remainingNanos() - LAST_NANOS;
    if (left <= 0) {
      throw tooLong.get();
    }
    sleep.accept(Math.min(left, backoff.next()));
  }
}
