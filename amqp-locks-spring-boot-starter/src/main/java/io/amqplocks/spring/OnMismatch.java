package io.amqplocks.spring;

/**
 * What to do when a semaphore exists at the broker with another number of slots than the
 * application configures.
 */
public enum OnMismatch {
  /** The broker's number counts, since an administrator may have set it. A warning is logged. */
  ADOPT,
  /**
   * The semaphore gets the configured number. Holders of removed slots keep them until they release
   * them (tokens) or until their next verification (slots). While processes with different numbers
   * start, as in a rolling update, the one that starts last wins.
   */
  RESIZE,
  /**
   * The application does not start. If the broker could not be reached at the start, acquiring
   * fails later.
   */
  FAIL
}
