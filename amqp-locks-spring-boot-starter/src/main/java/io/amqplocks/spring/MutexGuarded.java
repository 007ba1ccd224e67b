package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds a mutex that all processes share: one call at a time in the
 * whole system. The mutex is given back when the work ends, however it ends.
 *
 * <pre>{@code
 * @MutexGuarded(name = "nightly-report", onBusy = OnBusy.SKIP)    // whoever is first writes it
 * void report()
 *
 * @MutexGuarded(name = "order", key = "#id", maxWait = "2s")      // one at a time for each order
 * Order change(long id, Change change)
 *
 * @MutexGuarded(name = "account", key = "#from")                  // both, in an order without deadlocks
 * @MutexGuarded(name = "account", key = "#to")
 * void transfer(String from, String to, Money amount)
 *
 * @MutexGuarded(name = "ledger")                                  // the caller passes null
 * void book(Entry entry, FencingToken token)
 * }</pre>
 *
 * <p>What {@link SemaphoreGuarded} says of places, proxies, return types, other annotations and
 * exceptions holds here too. A method with both annotations takes mutexes first.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(MutexGuarded.List.class)
public @interface MutexGuarded {

  /**
   * The mutex's name, the same in all processes; placeholders are resolved. In the names of
   * properties, one with other characters than lower-case letters, digits and {@code -} stands in
   * brackets, as in {@code amqp-locks.mutexes[my_report].wait}.
   */
  String name();

  /**
   * A SpEL expression that picks one of many mutexes of this name, as {@code #order.id}: see {@link
   * SemaphoreGuarded#key}. The name stays what properties and metrics go by; the mutex is called
   * {@code name:key}.
   *
   * <p>There may be as many keys as orders: a mutex is an exclusive queue that vanishes when it is
   * given back. But not with {@link MutexAlgorithm#TOKENS}, which leaves some queues at the broker
   * for good for each key; then keys must be few.
   */
  String key() default "";

  /**
   * How long to wait for the mutex, for each lock of a method anew, as in {@code 30s}, {@code 500ms} or {@code PT1M}; {@code 0s}
   * does not wait. Placeholders are resolved. Empty, the default, means what {@code
   * amqp-locks.mutexes.<name>.wait} or else {@code amqp-locks.default-wait} says; not to wait at all if
   * {@link #onBusy} is SKIP or FALLBACK.
   */
  String maxWait() default "";

  /** What to do when the mutex is held by others. */
  OnBusy onBusy() default OnBusy.WAIT;

  /** The method that {@link OnBusy#FALLBACK} calls: see {@link SemaphoreGuarded#fallbackMethod}. */
  String fallbackMethod() default "";

  /** What to do when the lease is lost while the method runs. */
  OnLost onLost() default OnLost.NOTIFY;

  /**
   * Whether each lease has a {@link io.amqplocks.lock.FencingToken}, by which a resource can refuse
   * a holder that has lost the mutex without knowing it. A parameter of that type implies it: the
   * caller passes null, and the method gets the token. A parameter of type {@link
   * io.amqplocks.lock.Lease} gets the lease; do not close it. Both are for methods with one lock; of
   * several, the one that says {@code fenced = true} is meant.
   *
   * <p>With {@link MutexAlgorithm#EXCLUSIVE_QUEUE} the tokens of each mutex are counted by a durable
   * queue, which stays: with a {@link #key}, keys must be few then.
   */
  boolean fenced() default false;

  /**
   * Of the calls that wait in all processes, those with the highest priority get the mutex first;
   * within a priority, processes take turns. For {@link MutexAlgorithm#TOKENS} only.
   */
  int priority() default 0;

  /**
   * How the broker keeps the mutex, the same in all processes. The default is what {@code
   * amqp-locks.mutexes.<name>.algorithm} or another annotation of that name says, or else {@link
   * MutexAlgorithm#EXCLUSIVE_QUEUE}. Places that say different things of one mutex are an error at
   * startup, a property among them.
   */
  MutexAlgorithm algorithm() default MutexAlgorithm.DEFAULT;

  /** Several mutexes; the compiler makes it of repeated annotations. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface List {
    /** Each of them. */
    MutexGuarded[] value();
  }
}
