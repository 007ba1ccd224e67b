package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds a slot of a semaphore that all processes share: at most as
 * many calls at once as there are slots, in the whole system. The slot is given back when the
 * method returns or throws.
 *
 * <p>Works on calls through the Spring proxy, so not on a call from within the same object, and not
 * on private, static or final methods. The method must do its work before it returns: one that
 * returns a future, a reactive type, a coroutine, a {@code Callable}, a {@code Stream} or one of
 * Spring MVC's asynchronous results is refused, at startup if its declaration says so, else when it
 * returns one. A guarded method that calls another one of the same lock takes a second slot: locks
 * are not reentrant.
 *
 * <p>If no slot comes free in time, the call throws {@link
 * io.amqplocks.lock.LockException.AcquireTimeout} and the method does not run. If the thread is
 * interrupted while it waits, the call throws {@link io.amqplocks.lock.LockException.Interrupted}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface SemaphoreGuarded {

  /**
   * The semaphore's name, the same in all processes; placeholders are resolved. In the names of
   * properties, one with other characters than lower-case letters, digits and {@code -} stands in
   * brackets, as in {@code amqp-locks.semaphores[my_images].slots}: without them, Spring Boot would
   * leave these characters out.
   */
  String name();

  /**
   * How many slots the semaphore is created with, if it does not exist yet. If it does, its own
   * number counts. The property {@code amqp-locks.semaphores.<name>.slots} overrides this one; 0,
   * the default, leaves it to that property, or to whoever creates the semaphore. Annotations that
   * give one semaphore different numbers are an error at startup.
   */
  int slots() default 0;

  /**
   * How long to wait for a slot, as in {@code 30s}, {@code 500ms} or {@code PT1M}; {@code 0s} does
   * not wait. Placeholders are resolved. Empty, the default, means what {@code
   * amqp-locks.semaphores.<name>.wait} or else {@code amqp-locks.default-wait} says.
   */
  String maxWait() default "";

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
}
