package io.amqplocks.internal.fencing;

import io.amqplocks.lock.LockId;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The generation of a slot's counter that was in use when last seen. Finding it again takes a few
 * round trips. So it is harmless to forget all of them when there are too many, as with lock names
 * that are generated while the application runs.
 */
final class GenerationCache {

  static final int MOST = 10_000;

  private final Map<Slot, Integer> generations = new ConcurrentHashMap<>();

  /** A slot of a lock. */
  record Slot(LockId lock, int number) {}

  OptionalInt of(Slot slot) {
    Integer known = generations.get(slot);
    return known == null ? OptionalInt.empty() : OptionalInt.of(known);
  }

  void put(Slot slot, int generation) {
    if (generations.size() >= MOST) {
      generations.clear();
    }
    generations.put(slot, generation);
  }

  int size() {
    return generations.size();
  }
}
