package io.amqplocks.inmemory;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The slots of one lock and their holders. */
final class SlotSet extends LockState {

  private final LockId id;
  private final TreeMap<Integer, InMemoryLease> held = new TreeMap<>();

  int count;
  TokenQueueType type = TokenQueueType.QUORUM;

  /** How many strangers hold whatever is free. */
  private int strangers;

  private int generation;
  private int most;

  SlotSet(LockId id, int count) {
    this.id = id;
    this.count = count;
  }

  /** A fenced mutex is created by its first use, and again by the next one if it was destroyed. */
  private void createByUse() {
    if (id.kind() == LockKind.FENCED_MUTEX) {
      count = 1;
    }
  }

  boolean isTokens() {
    return id.kind() == LockKind.TOKEN_SEMAPHORE || id.kind() == LockKind.FENCED_MUTEX;
  }

  @Override
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

  @Override
  Optional<Grant> choose(LockId lock, Request request) {
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
        new Grant(free, tokens ? free.stream().map(fences::draw).toList() : List.of(), generation));
  }

  /** A token that is to be withdrawn is still held. A removed slot takes none from the others. */
  private int mostFree() {
    return isTokens() ? Math.max(0, count - held.size()) : count;
  }

  @Override
  void hold(InMemoryLease lease) {
    lease.grant().slots().forEach(slot -> held.put(slot, lease));
    most = Math.max(most, held.size());
  }

  @Override
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

  @Override
  boolean isGone(InMemoryLease lease) {
    return isTokens()
        ? lease.grant().generation() != generation
        : lease.grant().slots().stream().anyMatch(slot -> slot > count);
  }

  @Override
  void occupy(LockId lock, int more) {
    if (more > 0) {
      createByUse();
    }
    strangers += more;
  }

  Set<Integer> holders() {
    Set<Integer> all = new TreeSet<>(held.keySet());
    if (strangers > 0) {
      IntStream.rangeClosed(1, count).forEach(all::add);
    }
    return all;
  }

  @Override
  int inUse() {
    return strangers > 0 ? Math.max(count, held.size()) : held.size();
  }

  @Override
  int mostHeldAtOnce(LockId lock) {
    return most;
  }
}
