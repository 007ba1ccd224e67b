package io.amqplocks.spring.internal.setup;

import io.amqplocks.lock.LockId;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the keys whose semaphores this process has created, each once however often it was created
 * again, and warns when they become many. After {@value #MOST} it neither counts nor warns.
 */
final class KeyCountWarning {

  private static final Logger log = LoggerFactory.getLogger(KeyCountWarning.class);

  /** The number of keys at which the first warning comes; the next ones come at each doubling. */
  private static final int MANY = 1000;

  /** The number of keys at which counting stops, because it takes memory for each key. */
  private static final int MOST = 32 * MANY;

  private final Set<LockId> counted = ConcurrentHashMap.newKeySet();
  private final Map<LockId, Integer> keysOf = new ConcurrentHashMap<>();

  /** Counts a semaphore that was created for a key of the known one. */
  void created(LockId id, LockId known) {
    if (counted.size() >= MOST || !counted.add(id)) {
      return;
    }
    int keys = keysOf.merge(known, 1, Integer::sum);
    if (keys >= MANY && Integer.bitCount(keys / MANY) == 1 && keys % MANY == 0) {
      log.warn(
          "This process has used the {} with {} keys by now. Each has left durable queues at the broker, and"
              + " nothing removes them by itself: have fewer keys, as by a remainder of a hash, or a mutex;"
              + " or sweep those that nobody uses, by admin().sweepKeys or the endpoint amqplocks",
          known,
          keys);
    }
  }
}
