package io.amqplocks.internal.session;

/**
 * What a look at a fence's counter gave.
 *
 * @param outcome whether there was a message to read
 * @param content what its maker wrote into it
 * @param returns how often it was taken and put back before
 * @param others how many more messages there are; should be none
 */
public record CounterReading(Outcome outcome, String content, long returns, int others) {

  /** Whether there was something to read. */
  public enum Outcome {
    /** There was a message. */
    READ,
    /** The queue has none now: another may be reading it, or it is lost. */
    EMPTY,
    /** There is no such queue. */
    ABSENT
  }

  static final CounterReading EMPTY = new CounterReading(Outcome.EMPTY, "", 0, 0);
  static final CounterReading ABSENT = new CounterReading(Outcome.ABSENT, "", 0, 0);
}
