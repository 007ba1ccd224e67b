package io.amqplocks.spring;

/**
 * Work that is done under a lock and has no result.
 *
 * @param <E> the checked exception that it throws; inferred as an unchecked one if it throws none
 */
@FunctionalInterface
public interface GuardedRun<E extends Throwable> {

  /** Does the work. */
  void run() throws E;
}
