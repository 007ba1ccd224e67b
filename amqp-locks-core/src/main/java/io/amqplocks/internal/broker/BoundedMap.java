package io.amqplocks.internal.broker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of queues or locks, so that it need not be found out again. An application may
 * make up the names of its locks as it runs, so there is no end of them. When there are too many
 * entries, all are forgotten. So whatever is kept here must be of the kind that may be forgotten at
 * any time.
 *
 * <p>Concurrency: one concurrent map, whose entries are independent of each other; each change of
 * an entry is atomic. The look at the size, the clearing and the change that follows are three
 * steps. So threads that add at the same moment exceed the bound by one entry each, and an entry
 * that was added a moment ago may be forgotten. An entry that is changed by the function of
 * {@link #compute} may have been forgotten since the caller looked, and is then begun anew.
 *
 * @param <K> what is remembered of
 * @param <V> what is remembered; immutable
 */
public final class BoundedMap<K, V> {

  /** The number of entries beyond which all are forgotten. */
  public static final int MOST = 10_000;

  private final Map<K, V> entries = new ConcurrentHashMap<>();

  /** What is remembered of that; null if nothing is. */
  public @Nullable V get(K key) {
    return entries.get(key);
  }

  /** Remembers the value, instead of the last one. */
  public void put(K key, V value) {
    makeRoom(key);
    entries.put(key, value);
  }

  /** Changes what is remembered; the function gets null if nothing is. Returns the new value. */
  public V compute(K key, BiFunction<? super K, ? super @Nullable V, ? extends V> change) {
    makeRoom(key);
    return entries.compute(key, change);
  }

  /** Changes what is remembered, if anything is. The function returns null to forget it. */
  public void computeIfPresent(
      K key, BiFunction<? super K, ? super V, ? extends @Nullable V> change) {
    entries.computeIfPresent(key, change);
  }

  /** Forgets that. */
  public void remove(K key) {
    entries.remove(key);
  }

  /** Forgets that, if what is remembered equals the value. */
  public void remove(K key, V value) {
    entries.remove(key, value);
  }

  /** The number of entries. */
  int size() {
    return entries.size();
  }

  private void makeRoom(K key) {
    if (entries.size() >= MOST && !entries.containsKey(key)) {
      entries.clear();
    }
  }
}
