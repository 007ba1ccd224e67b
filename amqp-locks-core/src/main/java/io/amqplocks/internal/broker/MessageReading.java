package io.amqplocks.internal.broker;

/**
 * The result of reading a fence's counter.
 *
 * @param outcome whether there was a message to read
 * @param content the content that its creator wrote
 * @param returns how often the message was taken and put back before
 * @param others the number of further messages; should be 0
 */
public record MessageReading(Outcome outcome, String content, long returns, int others) {

  /** Whether there was a message to read. */
  public enum Outcome {
    /** There was a message. */
    READ,
    /** The queue is empty now: another client is reading the message, or the message is lost. */
    EMPTY,
    /** There is no such queue. */
    ABSENT
  }

  public static final MessageReading EMPTY = new MessageReading(Outcome.EMPTY, "", 0, 0);
  public static final MessageReading ABSENT = new MessageReading(Outcome.ABSENT, "", 0, 0);
}
