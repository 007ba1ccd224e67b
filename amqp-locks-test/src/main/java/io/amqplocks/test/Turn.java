package io.amqplocks.test;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * One of several runs of a test suite that share the release lines among them: a class for every
 * line runs on each line in one of the runs, and in each run on some line.
 *
 * @param number from 1 on
 * @param runs how many there are
 */
record Turn(int number, int runs) {

  private static final Pattern TEXT = Pattern.compile("([1-9])/([1-9])");

  Turn {
    if (number < 1 || number > runs) {
      throw new IllegalArgumentException("There is no run " + number + " of " + runs);
    }
  }

  /**
   * Such as {@code 1/2}; the only one if the text is empty.
   *
   * @throws IllegalArgumentException if it is anything else
   */
  static Turn parse(String text) {
    if (text.isEmpty()) {
      return new Turn(1, 1);
    }
    Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "AMQP_LOCKS_BROKER_TURN is \"" + text + "\", and not a run of several such as 1/2");
    }
    return new Turn(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
  }

  /** What this run takes. Where there are fewer than runs, several runs take the same. */
  <T> List<T> of(List<T> all) {
    return IntStream.range(0, all.isEmpty() ? 0 : Math.max(all.size(), number))
        .filter(i -> i % runs == number - 1)
        .mapToObj(i -> all.get(i % all.size()))
        .toList();
  }
}
