package io.amqplocks.internal.tokens;

import io.amqplocks.admin.TokenSemaphoreAdmin;
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
 * Tokens by slot and epoch. A record has them as {@code 1-5@29876543 6@29876601}, or {@code none}.
 *
 * @param epochs the epoch of each slot's token
 */
public record TokenSet(NavigableMap<Integer, Long> epochs) {

  /** No tokens. */
  public static final TokenSet NONE = new TokenSet(new TreeMap<>());

  private static final String NOTHING = "none";
  private static final Pattern RUN = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?@(\\d{1,9})");

  /** Copies the map. */
  public TokenSet {
    epochs = Collections.unmodifiableNavigableMap(new TreeMap<>(epochs));
  }

  /** The tokens of the given slots, all of one epoch. */
  public static TokenSet of(Collection<Integer> slots, long epoch) {
    TreeMap<Integer, Long> epochs = new TreeMap<>();
    slots.forEach(slot -> epochs.put(slot, epoch));
    return new TokenSet(epochs);
  }

  /**
   * Parses the text form in a record. Its runs rise and end at the highest possible slot. So a
   * text, however long, makes no more work than its length, and no more than the highest number of
   * tokens.
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

  /** Whether no token has a higher epoch. */
  boolean isUpTo(long epoch) {
    return epochs.values().stream().allMatch(each -> each <= epoch);
  }

  /** The number of tokens. */
  public int size() {
    return epochs.size();
  }

  /** Whether there are no tokens. */
  public boolean isEmpty() {
    return epochs.isEmpty();
  }

  /** Whether the token is in this set. An older token of the same slot is not. */
  public boolean has(TokenContent token) {
    Long epoch = epochs.get(token.slot());
    return epoch != null && epoch == token.epoch();
  }

  /** The union of this set and another. For a slot in both, the other's token counts. */
  public TokenSet plus(TokenSet more) {
    TreeMap<Integer, Long> sum = new TreeMap<>(epochs);
    sum.putAll(more.epochs);
    return new TokenSet(sum);
  }

  /** This set without the tokens of the given slots. */
  public TokenSet without(Collection<Integer> slots) {
    TreeMap<Integer, Long> rest = new TreeMap<>(epochs);
    rest.keySet().removeAll(slots);
    return new TokenSet(rest);
  }

  /** The tokens of the given slots in this set. */
  public TokenSet only(Collection<Integer> slots) {
    TreeMap<Integer, Long> some = new TreeMap<>(epochs);
    some.keySet().retainAll(slots);
    return new TokenSet(some);
  }

  /** The contents of the messages to publish for these tokens. */
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
