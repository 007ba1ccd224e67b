package io.amqplocks.spring.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.SemaphoreAdmin;
import io.amqplocks.lock.SlotChange;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import io.amqplocks.lock.TokenStatus;
import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.endpoint.LockDescriptor.Configured;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an operator can change of a lock. Each change waits for another administrator for 30 s at
 * most, and for no holder.
 *
 * @param locks the process's own
 * @param catalog what the application says of them
 */
record LockChanges(AmqpLocks locks, LockCatalog catalog) {

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
      case SEMAPHORE -> resized(id, locks.admin().semaphore(name), slots);
      case TOKEN_SEMAPHORE -> resized(id, locks.admin().tokenSemaphore(name), slots);
      case MUTEX, FENCED_MUTEX, PERSISTENT_MUTEX ->
          throw new LockException.Invalid(
              "The %s cannot be resized: it has one slot".formatted(id));
    };
  }

  private Done resized(LockId id, SemaphoreAdmin semaphore, int slots) {
    SlotChange change = semaphore.resize(slots);
    return new Done(
        "resized from %d to %d slots".formatted(change.before(), change.after()),
        next(
            change.removed().isEmpty()
                ? null
                : "Holders of the removed slots keep them until their next verification.",
            id,
            change.after()));
  }

  private Done resized(LockId id, TokenSemaphoreAdmin semaphore, int slots) {
    int before = semaphore.count();
    TokenStatus after = semaphore.resize(slots);
    int pending = after.pendingWithdrawals();
    return new Done(
        "resized from %d to %d slots".formatted(before, after.slots()),
        next(
            pending == 0
                ? null
                : "%d slots are in use and go as they are given back; this process sees to that."
                    .formatted(pending),
            id,
            after.slots()));
  }

  /** What comes of the change itself, and of the configuration at the next start. */
  private @Nullable String next(@Nullable String first, LockId id, int slots) {
    Configured configured = Configured.of(catalog, id);
    String next =
        Stream.of(first, configured == null ? null : Notes.atNextStart(configured, slots))
            .filter(Objects::nonNull)
            .collect(Collectors.joining(" "));
    return next.isEmpty() ? null : next;
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
}
