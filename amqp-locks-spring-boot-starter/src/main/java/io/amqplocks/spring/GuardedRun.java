package io.amqplocks.spring;

/**
 * Work under a lock that has no result.
 *
 * @param <E> what it may throw; inferred as an unchecked exception where it throws no other
 */
@FunctionalInterface
public interface GuardedRun<E extends Throwable> {

  /** Does the work. */
  void run() throws E;
}
