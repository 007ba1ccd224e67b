package io.amqplocks.leader;

/**
 * Why a term ended.
 *
 * @param cause the kind of reason
 * @param detail the reason in words, for logs
 */
public record Revocation(Cause cause, String detail) {

  /** The kinds of reasons for which a term ends. */
  public enum Cause {
    /** The election was closed. Leadership was given up after the listener returned. */
    CLOSED,
    /**
     * {@link LeaderElection#yieldLeadership()} was called, or another sole consumer asked to take
     * over. Leadership was given up after the listener returned.
     */
    YIELDED,
    /** The task returned or failed. Leadership was given up after the listener returned. */
    TASK_ENDED,
    /**
     * The broker has not confirmed the lock for too long, or the election itself failed, for
     * example because the system let it start no thread. Nobody knows whether another process leads
     * already. Leadership was given up, and this process contends again.
     */
    UNCERTAIN,
    /** The lock was lost. Another process may have led since before this was known. */
    LOST
  }

  @Override
  public String toString() {
    return cause + " (" + detail + ")";
  }
}
