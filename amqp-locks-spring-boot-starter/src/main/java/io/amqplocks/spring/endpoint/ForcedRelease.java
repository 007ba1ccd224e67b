package io.amqplocks.spring.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LocalLease;
import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.TokenAudit;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import io.amqplocks.spring.endpoint.LockChanges.Done;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Takes a lock from all who hold it, and from nobody else: whoever waits is likely to have it as soon
 * as it is given back, so what others hold is found out before, or not asked for at all.
 *
 * <ul>
 *   <li>A mutex has one holder. If that was a lease of this process, nothing is left to do, and who
 *       holds it now got it rightly.
 *   <li>Of tokens, how many are in use is asked before those of this process go back. Only if there
 *       are more than are held here, the others' are replaced. Then one who waited can be hit too:
 *       its token cannot be told from theirs.
 *   <li>Slots of others are only named.
 * </ul>
 *
 * @param locks the process's own
 * @param id which lock
 * @param why what the holders are told
 */
record ForcedRelease(AmqpLocks locks, LockId id, String why) {

  private static final String OVERLAP =
      "Holders in other processes learn of it at their next verification, and may overlap with new"
          + " ones until then.";

  /**
   * Does it.
   *
   * @param patience for how long tokens in use may still come back by themselves
   * @throws LockException.Conflict if others hold it from whom only the broker's operator can take it
   * @throws HalfDone if those of this process were taken back, and the rest failed
   */
  Done now(Duration patience) {
    String name = id.name().value();
    LockAdmin admin = locks.admin();
    return switch (id.kind()) {
      case TOKEN_SEMAPHORE -> tokens(admin.tokenSemaphore(name), patience);
      case FENCED_MUTEX -> fenced(admin.fencedMutex(name), patience);
      case PERSISTENT_MUTEX -> persistent(admin.persistentMutex(name));
      case MUTEX -> exclusive();
      case SEMAPHORE -> slots();
    };
  }

  private int revoke() {
    return locks.revoke(id, why);
  }

  private Done tokens(TokenSemaphoreAdmin tokens, Duration patience) {
    Supplier<Integer> others = othersOf(tokens);
    int revoked = revoke();
    return HalfDone.unless(
        revoked,
        () -> others.get() <= 0 ? done(revoked, 0, null) : replaced(tokens, revoked, patience));
  }

  /** Asks now, and tells later: no answer keeps no lease of this process from being taken back. */
  private Supplier<Integer> othersOf(TokenSemaphoreAdmin tokens) {
    int held = here().size();
    try {
      int inUse = tokens.inUse();
      // Twice, for the lease that was acquired between.
      int others = inUse - Math.max(held, here().size());
      return () -> others;
    } catch (LockException e) {
      return () -> {
        throw e;
      };
    }
  }

  private Done fenced(TokenSemaphoreAdmin token, Duration patience) {
    int revoked = revoke();
    return revoked > 0 || token.inUse() == 0
        ? done(revoked, 0, null)
        : replaced(token, 0, patience);
  }

  private static Done replaced(TokenSemaphoreAdmin tokens, int revoked, Duration patience) {
    TokenAudit audit = tokens.repair(patience);
    int outstanding = audit.outstanding();
    return done(revoked, outstanding, outstanding == 0 ? null : OVERLAP);
  }

  private Done persistent(PersistentMutexAdmin mutex) {
    int revoked = revoke();
    if (revoked > 0 || !mutex.isHeld()) {
      return done(revoked, 0, null);
    }
    mutex.disable();
    HalfDone.unless(
        "It is disabled now: enable it.",
        () -> {
          mutex.enable();
          return true;
        });
    return done(0, 1, "The holder is told of the loss. Calls that waited failed as NotFound.");
  }

  private Done exclusive() {
    int revoked = revoke();
    if (revoked > 0 || !locks.admin().mutex(id.name().value()).isHeld()) {
      return done(revoked, 0, null);
    }
    throw onlyByItsOwner(Set.of(1));
  }

  private Done slots() {
    Set<Integer> here = here().stream().map(LocalLease::slot).collect(Collectors.toSet());
    int revoked = revoke();
    return HalfDone.unless(
        revoked,
        () -> {
          // Those given back in the background may show as held for a moment.
          Set<Integer> others = new TreeSet<>(locks.admin().semaphore(id.name().value()).holders());
          others.removeAll(here);
          if (others.isEmpty() || revoked > 0) {
            return done(revoked, 0, others.isEmpty() ? null : remedy(others));
          }
          throw onlyByItsOwner(others);
        });
  }

  /** The leases of this process. */
  private Set<LocalLease> here() {
    return locks.leases().stream()
        .filter(lease -> lease.lock().equals(id))
        .collect(Collectors.toSet());
  }

  /** What exclusive queues hold, only their owner can give back, or the broker's operator. */
  private LockException onlyByItsOwner(Set<Integer> slots) {
    return new LockException.Conflict(
        "The %s is not held by this process, so it cannot be taken back here. %s"
            .formatted(id, remedy(slots)));
  }

  private String remedy(Set<Integer> slots) {
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
