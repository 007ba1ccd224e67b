package io.amqplocks.inmemory;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The slots of one lock, their holders and the waiters. The table's monitor guards all of it. */
final class SlotSet {

  /** In minutes. No fence gives epochs that far ahead of the clock. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  /**
   * What a lease has.
   *
   * @param slots its slots, lowest first
   * @param tokens a fencing token for each, or none
   * @param generation which creation of the lock they belong to
   */
  record Grant(List<Integer> slots, List<FencingToken> tokens, int generation) {}

  /** The counter of one slot's fencing tokens: the next token has that epoch and number. */
  private record Counter(long epoch, long next) {}

  private final LockId id;
  private final Map<Integer, Counter> counters = new HashMap<>();
  private final TreeMap<Integer, InMemoryLease> held = new TreeMap<>();

  /** By priority, highest first, and then by arrival. */
  final TreeSet<Waiter> waiters =
      new TreeSet<>(
          Comparator.comparingInt((Waiter waiter) -> waiter.request().priority())
              .reversed()
              .thenComparingLong(Waiter::number));

  int count;
  TokenQueueType type = TokenQueueType.QUORUM;

  /** How many strangers hold whatever is free. */
  int strangers;

  private int generation;
  private int most;

  SlotSet(LockId id) {
    this.id = id;
    switch (id.kind()) {
      case MUTEX, EXCLUSIVE_QUEUE_MUTEX -> count = 1;
      case FENCED_MUTEX, PERSISTENT_MUTEX, SLOT_SEMAPHORE, TOKEN_SEMAPHORE -> count = 0;
    }
  }

  /** A fenced mutex is created by its first use, and again by the next one if it was destroyed. */
  void createByUse() {
    if (id.kind() == LockKind.FENCED_MUTEX) {
      count = 1;
    }
  }

  boolean isTokens() {
    return id.kind() == LockKind.TOKEN_SEMAPHORE || id.kind() == LockKind.FENCED_MUTEX;
  }

  /** Throws if no lease can be acquired that way, however long the call waits. */
  void requirePossible(Request request) {
    createByUse();
    if (count == 0) {
      throw notFound();
    }
    if (request.permits() > count) {
      throw new LockException.Conflict(
          "A lease of %d permits of %s is not possible: it has %d slots; acquire %d at most, or resize it with"
                  .formatted(request.permits(), id, count, count)
              + " admin().%s(\"%s\").resize(%d)"
                  .formatted(administrator(), id.name(), request.permits()));
    }
    if (request.fenced() && isTokens() && type == TokenQueueType.CLASSIC) {
      throw new LockException.FenceUnavailable(
          "The %s has no fencing tokens: its queue is a classic one, which counts nothing; create it as"
                  .formatted(id)
              + " TokenQueueType.QUORUM");
    }
  }

  private LockException notFound() {
    if (id.kind() == LockKind.PERSISTENT_MUTEX) {
      return new LockException.NotFound(
          "The %s is not enabled; enable it with admin().persistentMutex(\"%s\").enable()"
              .formatted(id, id.name()));
    }
    return new LockException.NotFound(
        "There is no %s in memory; create it with admin().%s(\"%s\").create(slots%s)"
            .formatted(id, administrator(), id.name(), isTokens() ? ", type" : ""));
  }

  private String administrator() {
    return id.kind() == LockKind.SLOT_SEMAPHORE ? "slotSemaphore" : "tokenSemaphore";
  }

  /** Chooses free slots, and draws their fencing tokens. Empty if there are too few. */
  Optional<Grant> choose(Request request) {
    List<Integer> free =
        IntStream.rangeClosed(1, count)
            .filter(slot -> !held.containsKey(slot))
            .limit(Math.min(request.permits(), mostFree()))
            .boxed()
            .toList();
    if (strangers > 0 || free.size() < request.permits()) {
      return Optional.empty();
    }
    boolean tokens = isTokens() ? type == TokenQueueType.QUORUM : request.fenced();
    return Optional.of(
        new Grant(free, tokens ? free.stream().map(this::draw).toList() : List.of(), generation));
  }

  /** A token that is to be withdrawn is still held. A removed slot takes none from the others. */
  private int mostFree() {
    return isTokens() ? Math.max(0, count - held.size()) : count;
  }

  private FencingToken draw(int slot) {
    Counter counter = counters.getOrDefault(slot, new Counter(clockMinutes(), 0));
    FencingToken token = new FencingToken(slot, counter.epoch, counter.next);
    counters.put(slot, new Counter(counter.epoch, counter.next + 1));
    return token;
  }

  /** All later tokens of the slot are higher than all earlier ones, and than that number. */
  long renew(int slot, long number) {
    Counter last = counters.get(slot);
    long floor = Math.max(last == null ? 0 : last.epoch, FencingToken.epochOf(number));
    long epoch = Math.max(clockMinutes(), floor + 1);
    if (epoch > clockMinutes() + TEN_YEARS) {
      throw new LockException.FenceUnavailable(
          "The fence of slot %d of %s cannot be renewed above %d, which no fence gave: epoch %d is more"
                  .formatted(slot, id, number, epoch)
              + " than ten years of minutes ahead of the clock");
    }
    counters.put(slot, new Counter(epoch, 0));
    return epoch;
  }

  /** The machine's time. The time of the locks may jump to where there are no epochs. */
  private static long clockMinutes() {
    return Instant.now().getEpochSecond() / 60;
  }

  void hold(InMemoryLease lease) {
    lease.grant().slots().forEach(slot -> held.put(slot, lease));
    most = Math.max(most, held.size());
  }

  void free(InMemoryLease lease) {
    lease.grant().slots().forEach(slot -> held.remove(slot, lease));
  }

  /** Removes the lock. A holder of a token has nothing any more; that of a slot still has it. */
  void destroy() {
    count = 0;
    if (isTokens()) {
      held.clear();
      generation++;
    }
  }

  /** Whether what the lease holds does not exist any more. */
  boolean lacks(InMemoryLease lease) {
    return isTokens()
        ? lease.grant().generation() != generation
        : lease.grant().slots().stream().anyMatch(slot -> slot > count);
  }

  Set<Integer> holders() {
    Set<Integer> all = new TreeSet<>(held.keySet());
    if (strangers > 0) {
      IntStream.rangeClosed(1, count).forEach(all::add);
    }
    return all;
  }

  int inUse() {
    return strangers > 0 ? Math.max(count, held.size()) : held.size();
  }

  int mostHeldAtOnce() {
    return most;
  }
}
