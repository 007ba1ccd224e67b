package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.QueuedLock.Variant;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a line asks the broker by, whoever is first in it: it tries, and if that fails makes known that it
 * waits, and tries once more. That order misses no slot: one that came free before the vigil began is
 * found by the second attempt, and of one that comes free later the vigil is told. The vigil is kept when
 * another comes first in the line, unless that one wants something else.
 *
 * <p>For one thread at a time, as the line says; and for the last one to leave it.
 */
final class Head {

  private final QueuedLock lock;
  private final Backoff backoff = new Backoff();
  private @Nullable Vigil vigil;
  private Variant variant;

  Head(QueuedLock lock) {
    this.lock = lock;
    variant = lock.variant();
  }

  /** An attempt that throws, whatever it throws, ends the vigil. */
  Optional<HeldLease> attempt(Variant wanted, Patience patience, Runnable wake) {
    boolean usable = false;
    try {
      if (!wanted.equals(variant)) {
        close();
        variant = wanted;
      }
      Vigil kept = vigil;
      Optional<HeldLease> lease = kept == null ? first(patience, wake) : again(kept);
      if (lease.isEmpty()) {
        patience.busy();
      }
      usable = true;
      return lease;
    } catch (LockException.Unreachable | LockException.Unanswered e) {
      close();
      usable = true;
      patience.broken(e, lock.context().sessions().everOpened());
      return Optional.empty();
    } finally {
      if (!usable) {
        close();
      }
    }
  }

  private Optional<HeldLease> first(Patience patience, Runnable wake) {
    Call call = lock.call();
    Session session = lock.context().sessions().current(call);
    Claim claim = lock.kind().claim(variant);
    long courtesy = claim.courtesyNanos(session);
    if (courtesy > 0 && courtesy < patience.remaining()) {
      Futures.pause(courtesy);
    }
    Optional<HeldLease> lease = claim.attempt(call, session);
    if (lease.isPresent() || patience.remaining() <= 0) {
      return lease;
    }
    Vigil kept = claim.keepVigil(call, session, wake);
    vigil = kept;
    return again(kept);
  }

  private Optional<HeldLease> again(Vigil kept) {
    Call call = lock.call();
    lock.context().sessions().requireNotClosed(call);
    Optional<HeldLease> lease = kept.attempt(call);
    if (kept.isOver()) {
      close();
    }
    return lease;
  }

  /** How long to leave the broker alone, unless something happens. */
  long pauseNanos() {
    Vigil kept = vigil;
    // While the broker cannot be reached, no sooner than somebody tries to again.
    return kept == null
        ? Math.max(backoff.next(), lock.context().sessions().pauseNanos())
        : kept.pauseNanos();
  }

  /** Nobody waits any more. */
  void close() {
    Vigil kept = vigil;
    vigil = null;
    if (kept != null) {
      kept.close();
    }
  }
}
