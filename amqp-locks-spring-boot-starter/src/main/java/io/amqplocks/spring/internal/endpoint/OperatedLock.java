package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One lock as an operator sees and changes it. Each kind of lock has its own class, because the
 * broker reports different things of each kind, and leases are taken back in different ways.
 *
 * <p>A forced release takes the lock from all present holders, and from nobody else. A waiter is
 * likely to acquire the lock as soon as it is given back. So the holds of others are determined
 * before that, or not requested at all.
 */
abstract class OperatedLock {

  /** The effect of an operator's request, and what is left to do or happens next. */
  record Done(String done, @Nullable String next) {}

  private final AmqpLocks locks;
  private final LockId id;

  OperatedLock(AmqpLocks locks, LockId id) {
    this.locks = locks;
    this.id = id;
  }

  /**
   * Creates the view of that lock. This is the only place that distinguishes the kinds of locks.
   */
  static OperatedLock of(AmqpLocks locks, LockId id) {
    LockAdmin admin = locks.admin();
    String name = id.name().value();
    return switch (id.kind()) {
      case MUTEX -> new OperatedMutex(locks, id, admin.mutex(name));
      case EXCLUSIVE_QUEUE_MUTEX -> new OperatedMutex(locks, id, admin.exclusiveQueueMutex(name));
      case PERSISTENT_MUTEX -> new OperatedPersistentMutex(locks, id, admin.persistentMutex(name));
      case FENCED_MUTEX -> new OperatedFencedMutex(locks, id, admin.fencedMutex(name));
      case SLOT_SEMAPHORE -> new OperatedSlots(locks, id, admin.slotSemaphore(name));
      case TOKEN_SEMAPHORE -> new OperatedTokens(locks, id, admin.tokenSemaphore(name));
      case READ_LOCK, WRITE_LOCK -> new OperatedReadWriteLock(locks, id, admin.readWriteLock(name));
    };
  }

  /**
   * Asks the broker for the state of the lock, in a few round trips. Takes nothing from anybody.
   *
   * @throws LockException if the broker does not reply
   */
  abstract BrokerDescriptor describe();

  /**
   * Takes the lock from all holders.
   *
   * @param why the reason that the holders are given
   * @param timeout how long tokens in use may take to come back by themselves
   * @throws LockException.Conflict if there are other holders from whom only the broker's operator
   *     can take the lock
   * @throws PartialChangeException if the leases of this process were taken back, and the rest
   *     failed
   */
  abstract Done release(String why, Duration timeout);

  /**
   * Changes the number of slots.
   *
   * @throws LockException.Invalid if the lock has no number of slots
   */
  Done resize(int slots) {
    throw new LockException.Invalid("The %s cannot be resized: it has one slot".formatted(id));
  }

  /**
   * Enables or disables the lock.
   *
   * @throws LockException.Invalid if the lock is always enabled
   */
  Done enable(boolean enabled) {
    throw new LockException.Invalid(
        "The %s cannot be enabled or disabled; a persistent mutex can".formatted(id));
  }

  final int revoke(String why) {
    return locks.revoke(id, why);
  }

  /** The slots that this process holds, one for each permit. */
  final List<Integer> slotsHere() {
    return slotsHere(id::equals);
  }

  /** The slots of such locks that this process holds, one for each permit. */
  final List<Integer> slotsHere(Predicate<LockId> wanted) {
    return locks.leases().stream()
        .filter(lease -> wanted.test(lease.lock()))
        .flatMap(lease -> lease.slots().stream())
        .toList();
  }

  /** How many slots others hold, if this process holds its own of such locks. */
  final int heldByOthers(Predicate<LockId> wanted, IntSupplier heldByAll) {
    int before = slotsHere(wanted).size();
    int all = heldByAll.getAsInt();
    // Twice, for the lease that was acquired between.
    return all - Math.max(before, slotsHere(wanted).size());
  }

  /**
   * Asks now, and tells later. So the broker's answer is from before a release, and no failure to
   * answer keeps a lease of this process from being taken back.
   */
  static <T> Supplier<T> asked(Supplier<T> question) {
    try {
      T answer = question.get();
      return () -> answer;
    } catch (LockException e) {
      return () -> {
        throw e;
      };
    }
  }

  static Done released(int here, int elsewhere, @Nullable String next) {
    return new Done(
        "leases taken back: %d of this process, %d of others".formatted(here, elsewhere), next);
  }

  static Done resized(SlotChange change, @Nullable String next) {
    return new Done("resized from %d to %d slots".formatted(change.before(), change.after()), next);
  }

  /**
   * The exception for a hold that is another client's. Only its owner or the broker's operator
   * can give it back.
   */
  final LockException onlyByItsOwner(Set<Integer> slots) {
    return new LockException.Conflict(
        "The %s is not held by this process, so it cannot be taken back here. %s"
            .formatted(id, remedy(slots)));
  }

  /** The command for a POSIX shell. A name may have any printable characters. */
  private String deletion(String queue) {
    return "rabbitmqctl delete_queue -p %s %s"
        .formatted(quoted(locks.admin().virtualHost()), quoted(queue));
  }

  private static String quoted(String word) {
    return "'" + word.replace("'", "'\\''") + "'";
  }

  final String remedy(Set<Integer> slots) {
    return slots.stream()
        .flatMap(slot -> locks.admin().holderQueue(id, slot).stream())
        .map(this::deletion)
        .collect(
            Collectors.joining(
                "; ",
                "Others hold it: send this request to the instance that lists the lease, or do at the"
                    + " broker: ",
                ""));
  }
}
