package io.amqplocks.leader;

/** Work that is done only while this process leads. */
@FunctionalInterface
public interface LeaderTask {

  /**
   * Works until it is done or interrupted. It is called at the beginning of each term, on a thread
   * of its own, which is interrupted when the term ends. No two calls of one election overlap, even
   * if a call does not react to the interrupt.
   *
   * <p>Its return ends the term. So does an exception, which is logged. Other processes get their
   * turn then; see {@link LeaderElection#yieldLeadership()}.
   *
   * @param leadership the term; {@link Leadership#isCurrent()} says whether it still lasts
   */
  void run(Leadership leadership) throws Exception;
}
