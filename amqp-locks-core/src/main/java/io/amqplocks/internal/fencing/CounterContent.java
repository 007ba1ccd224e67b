package io.amqplocks.internal.fencing;

import io.amqplocks.lock.FencingToken;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The content of a counter's message, such as {@code epoch 29876543 on RabbitMQ 4}.
 *
 * @param epoch the epoch of all tokens that are drawn from the counter
 * @param brokerMajor the major version of the broker on which the counter was created. RabbitMQ
 *     begins to count anew when it is upgraded from 3.13 to 4.x, so a counter serves one of the two
 */
record CounterContent(long epoch, int brokerMajor) {

  private static final Pattern FORM = Pattern.compile("epoch (\\d{1,9}) on RabbitMQ (\\d{1,3})");

  static Optional<CounterContent> parse(String text) {
    Matcher form = FORM.matcher(text);
    return form.matches()
        ? Optional.of(
            new CounterContent(Long.parseLong(form.group(1)), Integer.parseInt(form.group(2))))
        : Optional.empty();
  }

  boolean isInRange() {
    return epoch > 0 && epoch <= FencingToken.MAX_EPOCH;
  }

  @Override
  public String toString() {
    return "epoch " + epoch + " on RabbitMQ " + brokerMajor;
  }
}
