package io.amqplocks.internal.session;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Whether anybody heard what was said last by wake queues. A queue on which somebody waits, or did a moment
 * ago, exists; a word for one that does not exist comes back. That takes a round trip, and nobody waits for
 * it: so what is known when a word is said is what became of the word before it.
 *
 * <p>Concurrency: each word is one immutable record, replaced atomically.
 */
final class LastWords {

  private static final int MOST = 10_000;

  private final Map<String, Word> words = new ConcurrentHashMap<>();

  /**
   * What was said last.
   *
   * @param heardBefore whether the word before this did not come back
   * @param cameBack whether this one did
   */
  private record Word(boolean heardBefore, boolean cameBack) {}

  void said(String queue) {
    if (words.size() >= MOST) {
      words.clear();
    }
    words.compute(queue, (same, last) -> new Word(last != null && !last.cameBack, false));
  }

  void cameBack(String queue) {
    words.computeIfPresent(queue, (same, last) -> new Word(last.heardBefore, true));
  }

  /** Whether somebody waits there, as far as that can be known. */
  boolean wereHeard(String queue) {
    Word last = words.get(queue);
    return last != null && last.heardBefore && !last.cameBack;
  }
}
