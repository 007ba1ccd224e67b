package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds a mutex that all processes share: one call at a time in the
 * whole system. The mutex is given back when the method returns or throws.
 *
 * <p>What {@link SemaphoreGuarded} says of proxies, return types, waiting and exceptions holds here
 * too. A method with both annotations takes the mutex first.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface MutexGuarded {

  /**
   * The mutex's name, the same in all processes; placeholders are resolved. In the names of
   * properties, one with other characters than lower-case letters, digits and {@code -} stands in
   * brackets, as in {@code amqp-locks.mutexes[my_report].wait}.
   */
  String name();

  /**
   * How long to wait for the mutex, as in {@code 30s}, {@code 500ms} or {@code PT1M}; {@code 0s}
   * does not wait. Placeholders are resolved. Empty, the default, means what {@code
   * amqp-locks.mutexes.<name>.wait} or else {@code amqp-locks.default-wait} says.
   */
  String maxWait() default "";

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
}
