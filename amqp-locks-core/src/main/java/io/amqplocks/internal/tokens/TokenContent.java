package io.amqplocks.internal.tokens;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What stands in a token: {@code slot 3 epoch 29876543 on RabbitMQ 4}. No two tokens of one semaphore
 * that ever were have the same slot and epoch.
 *
 * @param slot which slot of the semaphore it is, from 1
 * @param epoch rises with each token that is made for the slot
 * @param brokerMajor the first number of the version of the broker that it was made on: RabbitMQ counts
 *     returns anew when it is upgraded from 3.13 to 4.x
 */
public record TokenContent(int slot, long epoch, int brokerMajor) {

  private static final Pattern FORM =
      Pattern.compile("slot (\\d{1,5}) epoch (\\d{1,9}) on RabbitMQ (\\d{1,3})");

  /** Reads a message; empty if it is none of ours. */
  public static Optional<TokenContent> parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    TokenContent content =
        new TokenContent(
            Integer.parseInt(form.group(1)),
            Long.parseLong(form.group(2)),
            Integer.parseInt(form.group(3)));
    return content.slot >= 1
            && content.slot <= TokenSemaphoreAdmin.MAX_SLOTS
            && content.epoch >= 1
            && content.epoch <= FencingToken.MAX_EPOCH
        ? Optional.of(content)
        : Optional.empty();
  }

  /** Whether it is the same token. */
  boolean isSameAs(TokenContent other) {
    return slot == other.slot && epoch == other.epoch;
  }

  @Override
  public String toString() {
    return "slot " + slot + " epoch " + epoch + " on RabbitMQ " + brokerMajor;
  }
}
