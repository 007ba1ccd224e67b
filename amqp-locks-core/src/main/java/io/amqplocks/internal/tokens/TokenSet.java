package io.amqplocks.internal.tokens;

import io.amqplocks.lock.TokenSemaphoreAdmin;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tokens by slot and epoch, as a record writes them down: {@code 1-5@29876543 6@29876601}, or {@code
 * none}.
 *
 * @param epochs the epoch of each slot's token
 */
public record TokenSet(NavigableMap<Integer, Long> epochs) {

  /** No tokens. */
  public static final TokenSet NONE = new TokenSet(new TreeMap<>());

  private static final String NOTHING = "none";
  private static final Pattern RUN = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?@(\\d{1,9})");

  /** Copies. */
  public TokenSet {
    epochs = Collections.unmodifiableNavigableMap(new TreeMap<>(epochs));
  }

  /** Those slots' tokens, all of one epoch. */
  public static TokenSet of(Collection<Integer> slots, long epoch) {
    TreeMap<Integer, Long> epochs = new TreeMap<>();
    slots.forEach(slot -> epochs.put(slot, epoch));
    return new TokenSet(epochs);
  }

  /**
   * Reads it from a record. Its runs rise and end at the last slot that there may be; so no text, however
   * long, makes more work than it has letters, or more than the most tokens.
   */
  public static Optional<TokenSet> parse(String text) {
    if (text.equals(NOTHING)) {
      return Optional.of(NONE);
    }
    TreeMap<Integer, Long> epochs = new TreeMap<>();
    int before = 0;
    for (String run : text.split(" ", -1)) {
      Matcher form = RUN.matcher(run);
      if (!form.matches()) {
        return Optional.empty();
      }
      int first = Integer.parseInt(form.group(1));
      int last = form.group(2) == null ? first : Integer.parseInt(form.group(2));
      long epoch = Long.parseLong(form.group(3));
      if (first <= before || last < first || last > TokenSemaphoreAdmin.MAX_SLOTS || epoch == 0) {
        return Optional.empty();
      }
      for (int slot = first; slot <= last; slot++) {
        epochs.put(slot, epoch);
      }
      before = last;
    }
    return Optional.of(new TokenSet(epochs));
  }

  /** Whether all are of epochs up to that one. */
  boolean isUpTo(long epoch) {
    return epochs.values().stream().allMatch(each -> each <= epoch);
  }

  /** How many they are. */
  public int size() {
    return epochs.size();
  }

  /** Whether there are none. */
  public boolean isEmpty() {
    return epochs.isEmpty();
  }

  /** Whether the token is one of these, and not an older one of the same slot. */
  public boolean has(TokenContent token) {
    Long epoch = epochs.get(token.slot());
    return epoch != null && epoch == token.epoch();
  }

  /** These and those. */
  public TokenSet plus(TokenSet more) {
    TreeMap<Integer, Long> sum = new TreeMap<>(epochs);
    sum.putAll(more.epochs);
    return new TokenSet(sum);
  }

  /** These but for those slots'. */
  public TokenSet without(Collection<Integer> slots) {
    TreeMap<Integer, Long> rest = new TreeMap<>(epochs);
    rest.keySet().removeAll(slots);
    return new TokenSet(rest);
  }

  /** Those slots' of these. */
  public TokenSet only(Collection<Integer> slots) {
    TreeMap<Integer, Long> some = new TreeMap<>(epochs);
    some.keySet().retainAll(slots);
    return new TokenSet(some);
  }

  /** What is to be published for them. */
  public List<TokenContent> contents(int brokerMajor) {
    return epochs.entrySet().stream()
        .map(token -> new TokenContent(token.getKey(), token.getValue(), brokerMajor))
        .toList();
  }

  @Override
  public String toString() {
    List<String> runs = new ArrayList<>();
    int first = 0;
    for (Map.Entry<Integer, Long> token : epochs.entrySet()) {
      first = first == 0 ? token.getKey() : first;
      if (!token.getValue().equals(epochs.get(token.getKey() + 1))) {
        String slots = first == token.getKey() ? "" + first : first + "-" + token.getKey();
        runs.add(slots + "@" + token.getValue());
        first = 0;
      }
    }
    return runs.isEmpty() ? NOTHING : String.join(" ", runs);
  }
}
