package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds a mutex that all processes share: one call at a time in the
 * whole system. The mutex is released when the work ends, however it ends.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")                                // in all processes: the first
 * @MutexGuarded(name = "nightly-report", onBusy = OnBusy.SKIP, holdAtLeast = "1m") // writes it
 * void report()
 *
 * @MutexGuarded(name = "order", key = "#id", maxWait = "2s")      // one at a time for each order
 * Order change(long id, Change change)
 *
 * @MutexGuarded(name = "account", key = "#from")                  // both, without deadlocks
 * @MutexGuarded(name = "account", key = "#to")
 * void transfer(String from, String to, Money amount)
 *
 * @MutexGuarded(name = "ledger")                                  // the caller passes null
 * void book(Entry entry, FencingToken token)
 * }</pre>
 *
 * <p>See {@link SemaphoreGuarded} for placement, proxies, nested calls, return types, other
 * annotations and exceptions, which are the same here. A method with both annotations acquires
 * mutexes first.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(MutexGuarded.List.class)
public @interface MutexGuarded {

  /**
   * The mutex's name, the same in all processes. Placeholders are resolved. In the names of
   * properties, put a name with characters other than lower-case letters, digits and {@code -} in
   * brackets, as in {@code amqp-locks.mutexes[my_report].wait}.
   */
  String name();

  /**
   * A SpEL expression that picks one of many mutexes of this name, for example {@code #order.id}:
   * see {@link SemaphoreGuarded#key}. Properties and metrics go by the name; the mutex is called
   * {@code name:key}.
   *
   * <p>There can be as many keys as orders, also of a {@link #fenced} mutex: the queue of a mutex
   * disappears when it has not been used for a minute, and the keys of a name share 16 counters of
   * fencing tokens. With {@link MutexAlgorithm#TOKENS} keys must be few, because each of them
   * leaves three queues at the broker until they are swept.
   */
  String key() default "";

  /**
   * How long to wait for the mutex, for example {@code 30s}, {@code 500ms} or {@code PT1M}; {@code
   * 0s} does not wait. The wait starts anew for each lock of a method. Placeholders are resolved.
   * If this is empty, which is the default, {@code amqp-locks.mutexes.<name>.wait} counts, or else
   * {@code amqp-locks.default-wait}; with THROW, SKIP or FALLBACK as {@link #onBusy}, the call does
   * not wait.
   */
  String maxWait() default "";

  /**
   * How long the mutex is held at least, for example {@code 30s}, counted from when it was
   * acquired. If the method ends earlier, its caller does not wait; the mutex is released when the
   * time is over, however the method ended. Placeholders are resolved. The default, an empty text,
   * releases it at the end of the method.
   *
   * <p>It is for work that is to be done once, by whichever process comes first, and may take less
   * time than the clocks of the processes differ, such as a {@code @Scheduled} method with {@link
   * OnBusy#SKIP}. Make it longer than the difference of the clocks and the delays of the
   * schedulers, and shorter than the schedule's period.
   *
   * <p>Meanwhile the lease is verified and reported as held as any other is. A graceful shutdown
   * waits until the time is over, but no longer than {@code amqp-locks.shutdown-timeout}, 5 s by
   * default. A crash, or the loss of the lease, ends it early: the broker frees the mutex at once,
   * and another process may do the work again. A call that did not begin its work, for example
   * because another lock of the method was busy, releases at once.
   */
  String holdAtLeast() default "";

  /**
   * How long the mutex is held at most, for example {@code 10m}, counted from when it was acquired.
   * When the time is over, this process revokes the lease by its own clock, even if the broker is
   * away. It is a loss like any other, with a WARN, a {@link LeaseLostEvent} and the reaction that
   * {@link #onLost} selects. Then others may acquire the lock. Placeholders are resolved. The
   * default, an empty text, sets no limit.
   *
   * <p>It is for methods that may hang. <strong>It does not stop the method</strong>: others may
   * begin while it still runs. {@link OnLost#INTERRUPT} interrupts its thread. If two at once would
   * do harm, let the resource check the token of a {@link #fenced} lease. Make the time far longer
   * than the work ever takes, and longer than {@link #holdAtLeast}.
   */
  String holdAtMost() default "";

  /** What to do when the mutex is held by others. */
  OnBusy onBusy() default OnBusy.WAIT;

  /**
   * What to do when the broker is unavailable, so that nobody can say whether the lock is free. By
   * default, {@code amqp-locks.annotations.on-unavailable} decides, and else the call waits for the
   * broker as for a busy lock.
   */
  OnUnavailable onUnavailable() default OnUnavailable.DEFAULT;

  /**
   * The method that {@link OnBusy#FALLBACK} and {@link OnUnavailable#FALLBACK} call: see {@link
   * SemaphoreGuarded#fallbackMethod}.
   */
  String fallbackMethod() default "";

  /** What to do when the lease is lost while the method runs. */
  OnLost onLost() default OnLost.NOTIFY;

  /**
   * When the lease is released: at the end of the method, or of the transaction in which it was
   * called. See {@link ReleaseAfter#TRANSACTION}.
   */
  ReleaseAfter releaseAfter() default ReleaseAfter.METHOD;

  /**
   * Whether each lease has a {@link io.amqplocks.lock.FencingToken}, with which a resource can
   * refuse a holder that has lost the mutex without knowing it. A parameter of that type implies
   * it: the caller passes null, and the method gets the token. A parameter of type {@link
   * io.amqplocks.lock.Lease} gets the lease; do not close it. If a method has several locks, such
   * parameters refer to the one that says {@code fenced = true}.
   *
   * <p>Unless the algorithm is {@link MutexAlgorithm#TOKENS}, a quorum queue counts the tokens of
   * the mutex, and it stays. With {@link #key}, all keys of this name share 16 such queues.
   */
  boolean fenced() default false;

  /**
   * The priority of waiting calls in all processes: those with the highest priority get the mutex
   * first. Processes take turns within a priority. Only {@link MutexAlgorithm#TOKENS} has
   * priorities. They are from -999 to 999.
   */
  int priority() default 0;

  /**
   * Whether the waiting calls of this process are served in the order of arrival. {@code false}
   * lets a call take the mutex that another one is just releasing, before calls that have waited
   * longer. The process then gets more leases a second while its threads contend: see {@link
   * io.amqplocks.lock.AmqpLock#unfair()}.
   */
  boolean fair() default true;

  /**
   * How the broker keeps the mutex, the same in all processes. By default, {@code
   * amqp-locks.mutexes.<name>.algorithm} or another annotation of that name decides, or else it is
   * {@link MutexAlgorithm#SINGLE_ACTIVE_CONSUMER}. It is an error at startup if two places,
   * properties included, give one mutex different algorithms.
   */
  MutexAlgorithm algorithm() default MutexAlgorithm.DEFAULT;

  /** Contains repeated annotations. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface List {
    /** The annotations. */
    MutexGuarded[] value();
  }
}
