package io.amqplocks.inmemory;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Calls when the next event is due. Time that stands still needs no call. The table's monitor
 * guards it.
 */
final class Alarm {

  private final Time time;
  private final Runnable call;
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(
          1, Threads.named("timer"), new ThreadPoolExecutor.DiscardPolicy());

  /** When it rings if the time does not jump. */
  private long setFor = Time.NEVER;

  private @Nullable Future<?> pending;

  Alarm(Time time, Runnable call) {
    this.time = time;
    this.call = call;
    timer.setRemoveOnCancelPolicy(true);
    // Locks that nobody closes leave no thread behind.
    timer.setKeepAliveTime(1, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
  }

  /** Sets the alarm for that time, and not for the one before. */
  void set(long due) {
    long rings = due == Time.NEVER ? due : due - time.added();
    if (time.standsStill() || rings == setFor) {
      return;
    }
    Future<?> stale = pending;
    if (stale != null) {
      stale.cancel(false);
    }
    setFor = rings;
    pending =
        due == Time.NEVER ? null : timer.schedule(call, due - time.nanos(), TimeUnit.NANOSECONDS);
  }

  void close() {
    var unused = timer.shutdownNow();
  }
}
