package io.amqplocks.spring.internal.catalog;

import io.amqplocks.lock.LockId;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What metrics call a lock: by its name if a property or an annotation names it or an election is
 * on it, a key's lock by the name that the key belongs to, and all others alike, since names and
 * keys made up at run time have no end.
 */
public final class MetricNames {

  /** The name of locks that no property, annotation or election names. */
  public static final String OTHER = "(other)";

  private final LockCatalog catalog;
  private final Set<LockId> known = ConcurrentHashMap.newKeySet();

  /** Names by that catalog. */
  public MetricNames(LockCatalog catalog) {
    this.catalog = catalog;
    catalog.watch(known::add);
  }

  /** What metrics call the lock. */
  public String of(LockId id) {
    if (known.contains(id)) {
      return id.name().value();
    }
    LockId named = catalog.known(id);
    return known.contains(named) ? named.name().value() : OTHER;
  }
}
