package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds the read lock of a read-write lock that all processes share.
 * Any number of such calls run at once, and none while a call with {@link WriteGuarded} of the same
 * name runs. The read lock is released when the work ends, however it ends.
 *
 * <pre>{@code
 * @ReadGuarded(name = "prices")                                 // beside other readers
 * Price look(Product product)
 *
 * @WriteGuarded(name = "prices", maxWait = "10s")               // alone
 * void change(Product product, Price price)
 *
 * @ReadGuarded(name = "document", key = "#from")                // both, without deadlocks
 * @WriteGuarded(name = "document", key = "#to")
 * void copy(String from, String to)
 * }</pre>
 *
 * <p>Waiters are served in the order of arrival, with the two exceptions that {@link
 * io.amqplocks.lock.AmqpReadWriteLock} names. So a reader waits while a writer that came before it
 * waits.
 *
 * <p>See {@link SemaphoreGuarded} for placement, proxies, nested calls, return types, other
 * annotations and exceptions, which are the same here. In addition to them:
 *
 * <ul>
 *   <li>A nested call with this annotation joins the lease of a call with {@link WriteGuarded} of
 *       the same lock: a writer may read.
 *   <li>A nested call with {@link WriteGuarded} in one with this annotation of the same lock throws
 *       {@link io.amqplocks.lock.LockException.Invalid}: it would wait for itself. Give the outer
 *       method {@link WriteGuarded} instead.
 *   <li>Several nested calls may join the lease of a stage or a publisher. If it is a read lease,
 *       they run at the same time. If it is a write lease, they run one at a time.
 *   <li>An annotation of either type on a method replaces those of both types on its class. So a
 *       class can be annotated with this one, and its methods that write with the other one.
 *   <li>A method can have both annotations of one name with different keys. If the keys are equal,
 *       the call has the write lock only.
 *   <li>A method with several locks acquires mutexes first, then read-write locks by name and key,
 *       then semaphores.
 * </ul>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(ReadGuarded.List.class)
public @interface ReadGuarded {

  /**
   * The name of the read-write lock, the same in all processes. Placeholders are resolved. In the
   * names of properties, put a name with characters other than lower-case letters, digits and
   * {@code -} in brackets, as in {@code amqp-locks.read-write-locks[my_prices].wait}.
   */
  String name();

  /**
   * A SpEL expression that picks one of many read-write locks of this name, for example {@code
   * #order.id}: see {@link SemaphoreGuarded#key}. Properties and metrics go by the name; the lock
   * is called {@code name:key}.
   *
   * <p>There can be as many keys as orders: the queues of a read-write lock disappear when
   * nobody has used it for a minute, and the keys of a name share 16 counters of fencing tokens.
   */
  String key() default "";

  /**
   * How long to wait for the read lock, for example {@code 30s}, {@code 500ms} or {@code
   * PT1M}; {@code 0s} does not wait. The wait starts anew for each lock of a method. Placeholders
   * are resolved. If this is empty, which is the default, {@code
   * amqp-locks.read-write-locks.<name>.wait} counts, or else {@code amqp-locks.default-wait}; with
   * THROW, SKIP or FALLBACK as {@link #onBusy}, the call does not wait.
   */
  String maxWait() default "";

  /** How long the read lock is held at least: see {@link MutexGuarded#holdAtLeast}. */
  String holdAtLeast() default "";

  /**
   * How long the read lock is held at most: see {@link MutexGuarded#holdAtMost}. <strong>It does
   * not stop the method</strong>: others may begin while it still runs.
   */
  String holdAtMost() default "";

  /** What to do when the lock is busy: a writer holds it, or somebody waits for it. */
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
   * refuse a holder that has lost the lock without knowing it. A parameter of that type implies it:
   * the caller passes null, and the method gets the token. A parameter of type {@link
   * io.amqplocks.lock.Lease} gets the lease; do not close it. If a method has several locks, such
   * parameters refer to the one that says {@code fenced = true}.
   *
   * <p>The tokens of readers and writers are drawn from one counter. That of a writer is above
   * those of all readers and writers before it. A quorum queue is the counter, and it stays. With
   * {@link #key}, all keys of this name share 16 such queues.
   */
  boolean fenced() default false;

  /**
   * Whether the waiting calls of this process are served in the order of arrival: see {@link
   * MutexGuarded#fair}. It makes no difference to readers, which do not hand a lease over.
   */
  boolean fair() default true;

  /** Contains repeated annotations. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface List {
    /** The annotations. */
    ReadGuarded[] value();
  }
}
