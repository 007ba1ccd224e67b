package io.amqplocks.internal.tokens.admin;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An entry in the index of the keys of a name: a lock that may exist, and what the last sweep saw.
 *
 * @param lock the lock's whole name
 * @param look null if the lock was in use, or was not looked at yet
 */
record KeyEntry(LockName lock, @Nullable Look look) {

  private static final Pattern FORM =
      Pattern.compile(
          "(?:idle since (\\d{1,12}) generation (\\d{1,9}) returns (\\d{1,18}) )?key (.+)",
          // A key may have any line separator.
          Pattern.DOTALL);

  /**
   * What a sweep saw of a lock whose tokens were all idle, or of which there was nothing.
   *
   * @param since the second since 1970 of the first look that saw this, by the clock of its
   *     machine; later ones saw no change
   * @param generation the generation of its token queue; 0 if there was nothing of the lock
   * @param returns how often its tokens were put back, all together, with those of the last look; 0
   *     on a classic queue, which does not count that
   */
  record Look(long since, int generation, long returns) {}

  /** Parses a message; empty if it is no entry. */
  static Optional<KeyEntry> parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    Look look =
        form.group(1) == null
            ? null
            : new Look(
                Long.parseLong(form.group(1)),
                Integer.parseInt(form.group(2)),
                Long.parseLong(form.group(3)));
    try {
      return Optional.of(new KeyEntry(LockName.of(form.group(4)), look));
    } catch (LockException.Invalid e) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    Look seen = look;
    String idle =
        seen == null
            ? ""
            : "idle since %d generation %d returns %d "
                .formatted(seen.since, seen.generation, seen.returns);
    return idle + "key " + lock;
  }
}
