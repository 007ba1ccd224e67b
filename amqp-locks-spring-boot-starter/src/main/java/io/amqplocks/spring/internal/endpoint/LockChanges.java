package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.KeySweep;
import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.endpoint.LockDescriptor.Configured;
import io.amqplocks.spring.internal.endpoint.OperatedLock.Done;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an operator can change of the locks that an application configures. Each change waits for
 * another administrator for 30 s at most, and for no holder.
 *
 * @param locks the process's own
 * @param catalog what the application says of them
 */
record LockChanges(AmqpLocks locks, LockCatalog catalog) {

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
    Done resized = OperatedLock.of(locks, id).resize(slots);
    Configured configured = Configured.of(catalog, id);
    String undone =
        configured == null ? null : LockNotes.undoneBy(configured, catalog.isOfKey(id), slots);
    return new Done(resized.done(), joined(resized.next(), undone));
  }

  private static @Nullable String joined(@Nullable String first, @Nullable String second) {
    String both =
        Stream.of(first, second).filter(Objects::nonNull).collect(Collectors.joining(" "));
    return both.isEmpty() ? null : both;
  }

  /**
   * Removes the semaphores of keys that nobody used for that long.
   *
   * @throws LockException.Invalid if it is another kind of lock, or that of a key itself
   */
  Done sweepKeys(LockId id, Duration unused) {
    KeySweep swept = locks.admin().sweepKeys(id, unused);
    return new Done(
        "keys removed: %d, kept: %d".formatted(swept.removed().size(), swept.kept()),
        swept.left() == 0
            ? "A key is removed by a later request, which finds that it was not used since."
            : "%d keys were not looked at: later requests go on with them."
                .formatted(swept.left()));
  }

  /**
   * Lets a persistent mutex be held, or not.
   *
   * @throws LockException.Invalid if it is none
   */
  Done enable(LockId id, boolean enabled) {
    return OperatedLock.of(locks, id).enable(enabled);
  }
}
