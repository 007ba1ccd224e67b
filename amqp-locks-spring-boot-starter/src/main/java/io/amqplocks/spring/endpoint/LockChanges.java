package io.amqplocks.spring.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LocalLease;
import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.lock.SlotChange;
import io.amqplocks.lock.TokenAudit;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import io.amqplocks.lock.TokenStatus;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What an operator can change of a lock. Each change waits for another administrator for 30 s at
 * most, and for no holder.
 *
 * @param locks the process's own
 */
record LockChanges(AmqpLocks locks) {

  /** What was done, and what comes of it. */
  record Done(String done, @Nullable String next) {}

  /**
   * Gives a semaphore that many slots.
   *
   * @throws LockException.Invalid if it has no number of slots, or cannot have that one
   */
  Done resize(LockId id, int slots) {
    if (slots < 1 || slots > SemaphoreAdmin.MAX_SLOTS) {
      throw new LockException.Invalid(
          "A number of %d slots is not possible for %s; use 1 to %d"
              .formatted(slots, id, SemaphoreAdmin.MAX_SLOTS));
    }
    String name = id.name().value();
    return switch (id.kind()) {
      case SEMAPHORE -> resized(locks.admin().semaphore(name), slots);
      case TOKEN_SEMAPHORE -> resized(locks.admin().tokenSemaphore(name), slots);
      case MUTEX, FENCED_MUTEX, PERSISTENT_MUTEX ->
          throw new LockException.Invalid(
              "The %s cannot be resized: it has one slot".formatted(id));
    };
  }

  private static Done resized(SemaphoreAdmin semaphore, int slots) {
    SlotChange change = semaphore.resize(slots);
    return new Done(
        "resized from %d to %d slots".formatted(change.before(), change.after()),
        change.removed().isEmpty()
            ? null
            : "Holders of the removed slots keep them until their next verification.");
  }

  private static Done resized(TokenSemaphoreAdmin semaphore, int slots) {
    int before = semaphore.count();
    TokenStatus after = semaphore.resize(slots);
    int pending = after.pendingWithdrawals();
    return new Done(
        "resized from %d to %d slots".formatted(before, after.slots()),
        pending == 0
            ? null
            : "%d slots are in use and go as they are given back; this process sees to that."
                .formatted(pending));
  }

  /**
   * Lets a persistent mutex be held, or not.
   *
   * @throws LockException.Invalid if it is none
   */
  Done enable(LockId id, boolean enabled) {
    switch (id.kind()) {
      case PERSISTENT_MUTEX -> {
        PersistentMutexAdmin mutex = locks.admin().persistentMutex(id.name().value());
        if (enabled) {
          mutex.enable();
          return new Done("enabled", null);
        }
        mutex.disable();
        return new Done("disabled", "Whoever held it is told of the loss.");
      }
      default ->
          throw new LockException.Invalid(
              "The %s cannot be enabled or disabled; a persistent mutex can".formatted(id));
    }
  }

  /**
   * Takes a lock from all who hold it, in this process and, where an administrator can, in others.
   *
   * @param patience for how long tokens in use may still come back by themselves
   * @throws LockException.Conflict if others hold it from whom only the broker's operator can take it
   */
  Done forceRelease(LockId id, Duration patience, String why) {
    String name = id.name().value();
    LockAdmin admin = locks.admin();
    // Those go back to the broker in the background, so it may show them as held for a moment.
    Set<Integer> here = slotsHere(id);
    int revoked = locks.revoke(id, why);
    return switch (id.kind()) {
      case TOKEN_SEMAPHORE -> replaced(admin.tokenSemaphore(name), revoked, patience);
      case FENCED_MUTEX -> replaced(admin.fencedMutex(name), revoked, patience);
      case PERSISTENT_MUTEX -> reEnabled(admin.persistentMutex(name), revoked);
      case MUTEX -> onlyHere(id, revoked, here, admin.mutex(name).isHeld() ? Set.of(1) : Set.of());
      case SEMAPHORE -> onlyHere(id, revoked, here, admin.semaphore(name).holders());
    };
  }

  private Set<Integer> slotsHere(LockId id) {
    return locks.leases().stream()
        .filter(lease -> lease.lock().equals(id))
        .map(LocalLease::slot)
        .collect(Collectors.toSet());
  }

  private static Done replaced(TokenSemaphoreAdmin tokens, int revoked, Duration patience) {
    TokenStatus status = tokens.status();
    if (status.inUse() == 0) {
      return done(revoked, 0, null);
    }
    TokenAudit audit = tokens.repair(patience);
    return done(
        revoked,
        audit.outstanding(),
        audit.outstanding() == 0
            ? null
            : "Holders in other processes learn of it at their next verification, and may overlap with"
                + " new ones until then.");
  }

  private static Done reEnabled(PersistentMutexAdmin mutex, int revoked) {
    if (!mutex.isHeld()) {
      return done(revoked, 0, null);
    }
    mutex.disable();
    mutex.enable();
    return done(
        revoked, 1, "The holder is told of the loss. Calls that waited failed as NotFound.");
  }

  /** What exclusive queues hold, only their owner can give back, or the broker's operator. */
  private Done onlyHere(LockId id, int revoked, Set<Integer> here, Set<Integer> held) {
    Set<Integer> others = new TreeSet<>(held);
    others.removeAll(here);
    if (others.isEmpty() || revoked > 0) {
      return done(revoked, 0, others.isEmpty() ? null : remedy(id, others));
    }
    throw new LockException.Conflict(
        "The %s is not held by this process, so it cannot be taken back here. %s"
            .formatted(id, remedy(id, others)));
  }

  private String remedy(LockId id, Set<Integer> slots) {
    return slots.stream()
        .flatMap(slot -> locks.admin().holderQueue(id, slot).stream())
        .map("rabbitmqctl delete_queue '%s'"::formatted)
        .collect(
            Collectors.joining(
                "; ",
                "Others hold it: send this request to the instance that lists the lease, or do at the"
                    + " broker: ",
                ""));
  }

  private static Done done(int here, int elsewhere, @Nullable String next) {
    return new Done(
        "leases taken back: %d of this process, %d of others".formatted(here, elsewhere), next);
  }
}
