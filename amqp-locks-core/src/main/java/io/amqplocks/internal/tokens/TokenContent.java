package io.amqplocks.internal.tokens;

import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.FencingToken;
import java.util.Optional;

/**
 * The content of a token: {@code slot 3 epoch 29876543 on RabbitMQ 4}. No two tokens of one
 * semaphore that ever existed have the same slot and epoch.
 *
 * @param slot the slot of the semaphore, from 1
 * @param epoch rises with each token that is made for the slot
 * @param brokerMajor the major version of the broker on which the token was made. RabbitMQ restarts
 *     the count of returns when it is upgraded from 3.13 to 4.x
 */
public record TokenContent(int slot, long epoch, int brokerMajor) {

  private static final String SLOT = "slot ";
  private static final String EPOCH = " epoch ";
  private static final String BROKER = " on RabbitMQ ";

  /**
   * Parses a message; empty if it is not a token of ours. Without a regular expression, because
   * each acquire parses a message: while the JVM was still interpreting, the expression took a
   * tenth of an acquire and a release.
   */
  public static Optional<TokenContent> parse(String text) {
    int epochAt = text.indexOf(EPOCH);
    int brokerAt = text.indexOf(BROKER);
    if (!text.startsWith(SLOT) || epochAt < 0 || brokerAt < 0) {
      return Optional.empty();
    }
    int slot = number(text, SLOT.length(), epochAt, 5);
    int epoch = number(text, epochAt + EPOCH.length(), brokerAt, 9);
    int brokerMajor = number(text, brokerAt + BROKER.length(), text.length(), 3);
    return slot >= 1
            && slot <= TokenSemaphoreAdmin.MAX_SLOTS
            && epoch >= 1
            && epoch <= FencingToken.MAX_EPOCH
            && brokerMajor >= 0
        ? Optional.of(new TokenContent(slot, epoch, brokerMajor))
        : Optional.empty();
  }

  /** The number in that part of the text; -1 if it is not one to {@code digits} decimal digits. */
  private static int number(String text, int from, int to, int digits) {
    if (to <= from || to - from > digits) {
      return -1;
    }
    int number = 0;
    for (int i = from; i < to; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }

  /** Whether the other token has the same slot and epoch. */
  boolean isSameAs(TokenContent other) {
    return slot == other.slot && epoch == other.epoch;
  }

  @Override
  public String toString() {
    return "slot " + slot + " epoch " + epoch + " on RabbitMQ " + brokerMajor;
  }
}
