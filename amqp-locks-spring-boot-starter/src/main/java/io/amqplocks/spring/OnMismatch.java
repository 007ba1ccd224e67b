package io.amqplocks.spring;

/**
 * What to do when a semaphore exists at the broker with another number of slots than an application
 * is configured with.
 */
public enum OnMismatch {
  /** The broker's number counts, as an administrator has set it; a warning says so. */
  ADOPT,
  /**
   * The semaphore gets the configured number; those who hold a slot that goes keep it until they give
   * it back (tokens) or until its next verification (slots). While processes with different numbers
   * start, as in a rolling update, the one that starts last wins.
   */
  RESIZE,
  /** The application does not start; or if the broker could be reached only later, acquiring fails. */
  FAIL
}
