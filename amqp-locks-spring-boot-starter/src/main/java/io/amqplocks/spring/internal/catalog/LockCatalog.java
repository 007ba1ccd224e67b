package io.amqplocks.spring.internal.catalog;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.internal.catalog.NamedLock.Sourced;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.naming.KeyedName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The locks that this application names in its configuration or its annotations, what they say of
 * them, and so which lock stands for each name. A closed set of names,
 * so they may become metric tags; a {@link LockTemplate} may use others. A name with a colon of
 * which nothing is said has a key, and the settings of the name before the colon.
 *
 * <p>Which algorithm a name has is decided when all annotations have been read at startup, or when
 * it is used first, and for good; what contradicts that is an error.
 *
 * <p>Concurrency: what is said of a name is immutable, read without the lock and replaced under it.
 * Watchers are called without it.
 */
public final class LockCatalog {

  private final LockDefaults defaults;
  private final Map<FamilyId, NamedLock> named = new ConcurrentHashMap<>();

  /** Locks of keys that were used before all annotations were read, and not named by any. */
  private final Map<FamilyId, NamedLock> early = new ConcurrentHashMap<>();

  private final Set<FamilyId> keyed = ConcurrentHashMap.newKeySet();
  private final Set<FamilyId> unkeyed = ConcurrentHashMap.newKeySet();
  private final Set<FamilyId> known = new LinkedHashSet<>();

  /** What watchers were told, or are being told. */
  private final Set<LockId> told = new LinkedHashSet<>();

  private final List<Consumer<LockId>> watchers = new ArrayList<>();
  private final ReentrantLock lock = new ReentrantLock();
  private volatile boolean complete;

  /** A catalog without locks. */
  public LockCatalog(LockDefaults defaults) {
    this.defaults = defaults;
  }

  /** A catalog without locks, in which semaphores are tokens on quorum queues. */
  public LockCatalog(Duration defaultWait) {
    this(new LockDefaults(defaultWait, SemaphoreAlgorithm.DEFAULT, TokenQueueType.QUORUM));
  }

  /**
   * Adds what somebody says of a lock. A number of slots by a property, if it was added first, wins
   * over those by annotations.
   *
   * @throws IllegalStateException if it contradicts what was said before
   */
  public void add(LockSettings settings) {
    if (!settings.configured()) {
      unkeyed.add(settings.lock());
    }
    enter(settings);
  }

  private void enter(LockSettings settings) {
    FamilyId name = settings.lock();
    List<Consumer<LockId>> tell = List.of();
    NamedLock now;
    lock.lock();
    try {
      NamedLock usedBefore = named.containsKey(name) ? null : early.get(name);
      now =
          usedBefore == null
              ? named.getOrDefault(name, NamedLock.of(name)).and(settings)
              : usedBefore.usedBefore(settings, defaults.kind(name.family()));
      named.put(name, now);
      if (known.add(name) && now.settled() && told.add(now.id())) {
        tell = List.copyOf(watchers);
      }
    } finally {
      lock.unlock();
    }
    tell.forEach(watcher -> watcher.accept(now.id()));
  }

  /** Adds what an annotation with a key says; the lock without a key may be of no use then. */
  public void addKeyed(LockSettings settings) {
    KeyedName.checked(settings.lock().name().value());
    keyed.add(settings.lock());
    enter(settings);
  }

  /** Whether the lock itself may be used, and not only those of its keys. */
  public boolean isUsed(LockId id) {
    FamilyId name = FamilyId.of(id);
    return !keyed.contains(name) || unkeyed.contains(name);
  }

  /**
   * The names that properties configure and no annotation uses so far. The read lock stands for
   * both sides of a read-write lock, which is used if one of them is.
   */
  public Set<FamilyId> withoutAnnotation() {
    Set<FamilyId> names = new LinkedHashSet<>();
    lock.lock();
    try {
      names.addAll(known);
    } finally {
      lock.unlock();
    }
    names.removeIf(
        name ->
            name.family() == Family.WRITE_LOCK // its properties are those of its other side
                || isAnnotated(name)
                || name.otherSide().filter(this::isAnnotated).isPresent());
    return names;
  }

  private boolean isAnnotated(FamilyId name) {
    return keyed.contains(name) || unkeyed.contains(name);
  }

  /**
   * The lock that stands for the semaphore of that name: of slots, or of tokens.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   * @throws IllegalStateException if something is said of it that its algorithm does not have
   */
  public LockId semaphore(String name) {
    return resolve(FamilyId.semaphore(name));
  }

  /**
   * The lock that stands for the mutex of that name, of the kind that its algorithm says.
   *
   * @throws io.amqplocks.lock.LockException.Invalid if the name is not allowed
   * @throws IllegalStateException if something is said of it that its algorithm does not have
   */
  public LockId mutex(String name) {
    return resolve(FamilyId.mutex(name));
  }

  /**
   * The lock that stands for that name.
   *
   * @throws IllegalStateException if something is said of it that its algorithm does not have
   */
  public LockId resolve(FamilyId name) {
    NamedLock found = named.get(name);
    FamilyId unkeyedName = name.withoutKey().orElse(null);
    if (found == null && !complete && unkeyedName != null) {
      return settleEarly(name, unkeyedName).id();
    }
    FamilyId settings = withSettings(name);
    if (!settings.equals(name)) {
      return name.as(resolve(settings).kind());
    }
    if (found == null && complete) {
      // Not remembered: names that are made up at run time have no end.
      return name.as(defaults.kind(name.family()).value());
    }
    return (found != null && found.settled() ? found : settle(name)).id();
  }

  /**
   * An annotation that is read later may say of what kind the locks of its keys are, or that very
   * lock. That is then an error, as it is for a lock without a key.
   */
  private NamedLock settleEarly(FamilyId name, FamilyId unkeyedName) {
    NamedLock base = settle(unkeyedName);
    NamedLock settled = NamedLock.of(name).settle(base.decided());
    lock.lock();
    try {
      NamedLock found = named.get(name);
      if (found == null) {
        early.putIfAbsent(name, settled);
        return settled;
      }
    } finally {
      lock.unlock();
    }
    return settle(name);
  }

  /** Whose settings count: the lock's own, or else those of the name before its colon. */
  private FamilyId withSettings(FamilyId name) {
    return named.containsKey(name)
        ? name
        : name.withoutKey().filter(named::containsKey).orElse(name);
  }

  /** The known lock of which that one is a key's, for metrics; else that lock itself. */
  public LockId known(LockId id) {
    return withSettings(FamilyId.of(id)).as(id.kind());
  }

  /** Whether that is the lock of a key of a known one. */
  public boolean isOfKey(LockId id) {
    return !known(id).equals(id);
  }

  private NamedLock settle(FamilyId name) {
    List<Consumer<LockId>> tell = List.of();
    NamedLock now;
    lock.lock();
    try {
      NamedLock before = named.getOrDefault(name, NamedLock.of(name));
      now = before.settle(defaults.kind(name.family()));
      named.put(name, now);
      if (!before.settled() && known.contains(name) && told.add(now.id())) {
        tell = List.copyOf(watchers);
      }
    } finally {
      lock.unlock();
    }
    tell.forEach(watcher -> watcher.accept(now.id()));
    return now;
  }

  /** How long to wait for a lock where the caller does not say. */
  public Duration waitFor(FamilyId lock) {
    NamedLock found = named.get(withSettings(lock));
    return found == null || found.maxWait() == null ? defaults.maxWait() : found.maxWait();
  }

  /** How many slots that very lock is to be created with; 0 if nothing says so. */
  public int slots(LockId id) {
    FamilyId name = FamilyId.of(id);
    NamedLock found = named.get(withSettings(name));
    Sourced<Integer> slots = found == null ? null : found.slots();
    return slots != null && resolve(name).equals(id) ? slots.value() : 0;
  }

  /** How that semaphore is to be created; empty if its slots are not known, or it is none. */
  public Optional<SemaphoreSettings> semaphoreSettings(LockId id) {
    int slots = id.kind().family() == Family.SEMAPHORE ? slots(id) : 0;
    return slots == 0
        ? Optional.empty()
        : Optional.of(new SemaphoreSettings(id, slots, queueType(id), onMismatch(id), known(id)));
  }

  /** What is to keep the lock's tokens when it is created. */
  public TokenQueueType queueType(LockId id) {
    NamedLock found = named.get(withSettings(FamilyId.of(id)));
    Sourced<TokenQueueType> type = found == null ? null : found.queueType();
    return type == null ? defaults.queueType() : type.value();
  }

  /**
   * What to do if the broker has another number of slots for that lock than it is to be created
   * with.
   */
  public OnMismatch onMismatch(LockId id) {
    NamedLock found = named.get(withSettings(FamilyId.of(id)));
    return found == null || found.onMismatch() == null ? OnMismatch.ADOPT : found.onMismatch();
  }

  /**
   * The locks that stand for the names known so far, in the order that those became known; decides
   * their algorithms.
   *
   * @throws IllegalStateException if something is said of one that its algorithm does not have
   */
  public List<LockId> locks() {
    List<FamilyId> names;
    lock.lock();
    try {
      names = List.copyOf(known);
      complete = true;
    } finally {
      lock.unlock();
    }
    return names.stream().map(this::resolve).toList();
  }

  /**
   * Adds the lock of an election for those who watch, since such locks are a closed set too.
   * Nothing is said of it.
   */
  public void addElected(LockId id) {
    List<Consumer<LockId>> tell = List.of();
    lock.lock();
    try {
      if (told.add(id)) {
        tell = List.copyOf(watchers);
      }
    } finally {
      lock.unlock();
    }
    tell.forEach(watcher -> watcher.accept(id));
  }

  /**
   * Calls back for each known lock whose algorithm is decided and for each lock of an election, and
   * for each as it becomes so.
   */
  public void watch(Consumer<LockId> watcher) {
    List<LockId> now;
    lock.lock();
    try {
      watchers.add(watcher);
      now = List.copyOf(told);
    } finally {
      lock.unlock();
    }
    now.forEach(watcher);
  }
}
