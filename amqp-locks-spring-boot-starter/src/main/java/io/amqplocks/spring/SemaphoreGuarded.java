package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds a slot of a semaphore that all processes share: at most as
 * many calls at once as there are slots, in the whole system. The slot is given back when the work
 * ends, however it ends.
 *
 * <pre>{@code
 * @SemaphoreGuarded(name = "images", slots = 5)                            // waits
 * void upload(Image image)
 *
 * @SemaphoreGuarded(name = "images", onBusy = OnBusy.FALLBACK, fallbackMethod = "later")
 * Receipt accept(Image image)
 *
 * @SemaphoreGuarded(name = "customer", key = "#order.customer", slots = 2) // two for each customer
 * Mono<Receipt> place(Order order)
 * }</pre>
 *
 * <h2>Where it may stand</h2>
 *
 * On a method, on a class (then it is for all public methods, inherited ones too), on an interface or
 * a method of one, and on another annotation, whose attributes may be {@code @AliasFor} these. It may
 * be repeated. The nearest one counts: a method's own replaces those of this type on its class.
 *
 * <p>A method with several locks acquires them in a fixed order, in which all processes agree: mutexes
 * before semaphores, then by name and key. So two methods that name the same locks in another order
 * do not wait for each other for ever. Two keys of one call that are equal are one lock; so annotations
 * of one name on a method must agree in what they do when it is busy or lost, and in how long they wait.
 *
 * <p>It works on calls through the Spring proxy, so not on a call from within the same object. A
 * private, static or final method is an error at startup. Locks are not reentrant: a guarded method
 * that calls another one of the same lock takes a second slot.
 *
 * <h2>Until when it is held</h2>
 *
 * <ul>
 *   <li>A plain method: until it has returned or thrown.
 *   <li>{@code CompletableFuture} or {@code CompletionStage}: the call returns at once and no thread
 *       waits. The method runs when the lock is had, on a thread of the library; the lock is held
 *       until its stage completes. A caller that completes the returned future itself, as by cancelling
 *       it or by {@code orTimeout}, ends the waiting. A method that has begun keeps the lock until its
 *       stage has completed, for to cancel a {@code CompletableFuture} does not end what works on it. A
 *       stage of a class with a {@code cancel} of its own, as that of {@code Mono.toFuture()} or of the
 *       JDK's HTTP client, is cancelled, and trusted to end its work so. A stage that never completes
 *       keeps the lock for ever: give it a timeout of its own.
 *   <li>{@code Mono} or {@code Flux}: nothing happens before somebody subscribes. Each subscription
 *       acquires a lease of its own, without blocking, and then calls the method; it is held until
 *       what the method returned completes, fails or is cancelled, which is trusted to end its work.
 *       The subscriber hears of the end when the lock is free again.
 *   <li>{@code Future}, {@code Callable}, {@code Stream}, other reactive types, Spring MVC's
 *       asynchronous results and Kotlin's {@code suspend} are refused, at startup if the declaration
 *       says so, else when one is returned: their work would go on without the lock.
 * </ul>
 *
 * <p>A method that returns a {@code CompletableFuture}, {@code Mono} or {@code Flux} runs in the context
 * of the caller's class loader, but mostly on another thread: what else the caller keeps in thread-locals, as a
 * security context, a transaction or logging's MDC, is not there. Hand it over as an argument, or by
 * Reactor's context.
 *
 * <h2>Among other annotations</h2>
 *
 * The lock is outside {@code @Transactional}, so it is given back after the commit. It is inside
 * {@code @Async}: the thread of the executor takes it, waits for it, and holds it around the work. It
 * is inside {@code @Retryable}: each attempt takes it anew, and nobody holds it during the pauses; an
 * attempt that found it busy has failed like any other. {@code @Scheduled} calls the proxy like
 * everybody. The property {@code amqp-locks.annotations.order} moves it among the advice that has
 * an order, such as transactions.
 *
 * <h2>What a call throws</h2>
 *
 * What the method throws; {@link io.amqplocks.lock.LockException.AcquireTimeout} if the lock was busy
 * for too long, unless {@link #onBusy} says otherwise; {@link
 * io.amqplocks.lock.LockException.Interrupted} if the thread was interrupted while it waited; {@link
 * io.amqplocks.lock.LockException} for a broker that is broken. In all these cases the method did not
 * run. {@link io.amqplocks.lock.LockException.Lost} as {@link #onLost} says; and, whatever that says,
 * if one of several locks was lost while another one was waited for: then the method did not run either.
 * Futures and publishers fail with the same; the call that returns them throws nothing.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(SemaphoreGuarded.List.class)
public @interface SemaphoreGuarded {

  /**
   * The semaphore's name, the same in all processes; placeholders are resolved. In the names of
   * properties, one with other characters than lower-case letters, digits and {@code -} stands in
   * brackets, as in {@code amqp-locks.semaphores[my_images].slots}: without them, Spring Boot would
   * leave these characters out.
   */
  String name();

  /**
   * A SpEL expression that picks one of many semaphores of this name, as {@code #order.customer}. It
   * may use parameters ({@code #order}, {@code #p0}, {@code #a0}), beans ({@code @tenants.current()})
   * and {@code #root} with {@code method}, {@code args}, {@code target} and {@code targetClass}; if
   * it names a parameter that is not there, startup fails. Empty, the default, is one semaphore for
   * all.
   *
   * <p>The name stays what properties and metrics go by, and each key has a semaphore of its own with
   * that name's slots, called {@code name:key}: {@code LockTemplate.semaphore("customer", "42")} is
   * the same one. (A key that is long or has control characters is replaced by its hash.) So a
   * {@code name} with a key has no colon. A key that is null, blank, or of a type without a {@code
   * toString()} of its own is a {@link io.amqplocks.lock.LockException.Invalid}. Lists, arrays and sorted
   * sets may be keys, by their elements in order; other sets and maps may not, since equal ones need not
   * have the same order.
   *
   * <p><strong>Each key costs the broker some durable queues, and they stay.</strong> The semaphore of a
   * key is created when the key is first used, and nothing removes it by itself. So keys must be few:
   * tenants and not orders. Make many keys few by a remainder, as in {@code
   * T(Math).floorMod(#order.id.hashCode(), 64)}; use a {@link MutexGuarded}, which leaves nothing behind, if
   * one at a time is enough; or let an administrator destroy idle ones, which are made again at next use.
   */
  String key() default "";

  /**
   * How many slots the semaphore is created with, if it does not exist yet. If it does, its own
   * number counts. The property {@code amqp-locks.semaphores.<name>.slots} overrides this one; 0,
   * the default, leaves it to that property, or to whoever creates the semaphore. Annotations that
   * give one semaphore different numbers are an error at startup; so is a semaphore without a key that
   * nobody gives slots to, and that the broker does not know either.
   */
  int slots() default 0;

  /**
   * How long to wait for a slot, for each lock of a method anew, as in {@code 30s}, {@code 500ms} or {@code PT1M}; {@code 0s} does
   * not wait. Placeholders are resolved. Empty, the default, means what {@code
   * amqp-locks.semaphores.<name>.wait} or else {@code amqp-locks.default-wait} says; not to wait at
   * all if {@link #onBusy} is SKIP or FALLBACK.
   */
  String maxWait() default "";

  /** What to do when no slot is free. */
  OnBusy onBusy() default OnBusy.WAIT;

  /**
   * For {@link OnBusy#FALLBACK}, the name of the method to call instead: of the same class, with the
   * same parameters, and after them, if it likes, one for the {@link
   * io.amqplocks.lock.LockException.AcquireTimeout}; with a result that the guarded method could return.
   * It may be private or static. It is called on the object itself, without locks and without
   * what its own annotations ask for. Checked at startup.
   */
  String fallbackMethod() default "";

  /** What to do when the lease is lost while the method runs. */
  OnLost onLost() default OnLost.NOTIFY;

  /**
   * Whether each lease has a {@link io.amqplocks.lock.FencingToken}. A parameter of that type implies
   * it: the caller passes null, and the method gets the token. Tokens of a semaphore have an order for
   * each slot only. A parameter of type {@link io.amqplocks.lock.Lease} gets the lease; do not close it.
   * Both are for methods with one lock; of several, the one that says {@code fenced = true} is meant.
   */
  boolean fenced() default false;

  /**
   * Of the calls that wait in all processes, those with the highest priority get a slot first;
   * within a priority, processes take turns. For tokens only.
   */
  int priority() default 0;

  /**
   * How the broker keeps the semaphore, the same in all processes. The default is what {@code
   * amqp-locks.semaphores.<name>.algorithm} or another annotation of that name says, or else {@code
   * amqp-locks.semaphore-algorithm}: tokens, unless that is set. Places that say different things of
   * one semaphore are an error at startup, a property among them.
   */
  SemaphoreAlgorithm algorithm() default SemaphoreAlgorithm.DEFAULT;

  /** Several semaphores; the compiler makes it of repeated annotations. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface List {
    /** Each of them. */
    SemaphoreGuarded[] value();
  }
}
