package io.amqplocks.spring;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The locks that this application names in its configuration or its annotations, and what they say
 * of them. A closed set of names, so they may become metric tags; a {@link LockTemplate} may use
 * others.
 */
public final class LockCatalog {

  private static final Logger log = LoggerFactory.getLogger(LockCatalog.class);

  private static final Pattern PLAIN = Pattern.compile("[a-z0-9][a-z0-9-]*");

  private final Duration defaultWait;
  private final Map<LockId, Duration> waits = new ConcurrentHashMap<>();
  private final Map<LockId, Slots> slots = new ConcurrentHashMap<>();
  private final Set<LockId> known = new LinkedHashSet<>();
  private final List<Consumer<LockId>> watchers = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();

  private record Slots(int number, boolean configured, String source) {
    @Override
    public String toString() {
      return "%d slots by %s".formatted(number, source);
    }
  }

  /** A catalog without locks. */
  public LockCatalog(Duration defaultWait) {
    this.defaultWait = defaultWait;
  }

  /**
   * Adds what a property says of a lock; wins over what annotations say.
   *
   * @param slots 0 if it says nothing of slots
   * @param wait null if it says nothing of waiting
   * @param source the name of the property
   */
  public void configure(LockId id, int slots, @Nullable Duration wait, String source) {
    if (wait != null) {
      waits.put(id, wait);
    }
    add(id, slots, true, source);
  }

  /**
   * Adds what an annotation says of a lock.
   *
   * @param slots 0 if it says nothing of slots
   * @param source the annotated method
   * @throws IllegalStateException if another annotation gives it another number of slots
   */
  public void declare(LockId id, int slots, String source) {
    add(id, slots, false, source);
  }

  private void add(LockId id, int number, boolean configured, String source) {
    if (number > 0) {
      slots.merge(
          id, new Slots(number, configured, source), (before, now) -> agreed(id, before, now));
    }
    List<Consumer<LockId>> tell = List.of();
    lock.lock();
    try {
      if (known.add(id)) {
        tell = List.copyOf(watchers);
      }
    } finally {
      lock.unlock();
    }
    tell.forEach(watcher -> watcher.accept(id));
  }

  private static Slots agreed(LockId id, Slots before, Slots now) {
    if (before.number == now.number) {
      return before;
    }
    if (before.configured) {
      log.info("{}: {} overrides {}", id, before, now);
      return before;
    }
    throw new IllegalStateException(
        "The %s is given %s and %s: make them equal, or decide by %s.slots"
            .formatted(id, before, now, property(id)));
  }

  /**
   * What the names of the lock's properties begin with, as it must be written: Spring Boot keeps
   * other characters than these only between brackets, and leaves them out else.
   */
  public static String property(LockId id) {
    String name = id.name().value();
    return (id.kind() == LockKind.MUTEX ? "amqp-locks.mutexes" : "amqp-locks.semaphores")
        + (PLAIN.matcher(name).matches() ? "." + name : "[" + name + "]");
  }

  /** How long to wait for a lock where the caller does not say. */
  public Duration waitFor(LockId id) {
    return waits.getOrDefault(id, defaultWait);
  }

  /** How many slots the lock is to be created with; 0 if nothing says so. */
  public int slots(LockId id) {
    Slots found = slots.get(id);
    return found == null ? 0 : found.number;
  }

  /** The locks known so far, in the order that they became known. */
  public List<LockId> locks() {
    lock.lock();
    try {
      return List.copyOf(known);
    } finally {
      lock.unlock();
    }
  }

  /** Calls back for each lock that is known, and for each that becomes known. */
  public void watch(Consumer<LockId> watcher) {
    List<LockId> now;
    lock.lock();
    try {
      watchers.add(watcher);
      now = List.copyOf(known);
    } finally {
      lock.unlock();
    }
    now.forEach(watcher);
  }
}
