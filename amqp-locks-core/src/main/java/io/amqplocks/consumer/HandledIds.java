package io.amqplocks.consumer;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The ids of the last messages that this process has handled, and whether the handler rejected
 * them. Of one consumer, for all of its terms: what it handled before its connection broke comes
 * again after that.
 *
 * <p>Concurrency: a map under its own guard. Two terms may overlap while the older one ends.
 */
final class HandledIds {

  /** Ids have 255 bytes at most. */
  private static final int MOST = 10_000;

  private final Map<String, Boolean> rejected =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > MOST;
            }
          });

  void add(String id, boolean wasRejected) {
    rejected.put(id, wasRejected);
  }

  /** Whether the handler rejected it; null if it is not known here. */
  @Nullable Boolean rejected(String id) {
    return rejected.get(id);
  }
}
