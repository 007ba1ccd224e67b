package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.FenceCounter;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The generation of a counter that was in use when last seen. Finding it again takes a few round
 * trips. So it is harmless to forget all of them when there are too many, as with lock names that
 * are generated while the application runs.
 */
final class GenerationCache {

  static final int MOST = 10_000;

  private final Map<FenceCounter, Integer> generations = new ConcurrentHashMap<>();

  OptionalInt of(FenceCounter counter) {
    Integer known = generations.get(counter);
    return known == null ? OptionalInt.empty() : OptionalInt.of(known);
  }

  void put(FenceCounter counter, int generation) {
    if (generations.size() >= MOST) {
      generations.clear();
    }
    generations.put(counter, generation);
  }

  int size() {
    return generations.size();
  }
}
