package io.amqplocks.internal.waiting;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The head of a line at work: it tries, and if that fails makes known that it waits, tries once more, and
 * then sleeps until it is woken. That order misses no slot: one that came free before the vigil began is
 * found by the second attempt, and of one that comes free later the vigil is told. For one thread.
 */
final class Head implements AutoCloseable {

  private final QueuedLock lock;
  private final Claim claim;
  private final QueuedLock.Context context;
  private final WaitingLine line;
  private final Backoff backoff = new Backoff(ThreadLocalRandom.current());
  private @Nullable Vigil vigil;

  Head(QueuedLock lock, Claim claim, QueuedLock.Context context, WaitingLine line) {
    this.lock = lock;
    this.claim = claim;
    this.context = context;
    this.line = line;
  }

  Optional<HeldLease> attempt(Patience patience) {
    try {
      Optional<HeldLease> lease = vigil == null ? first(patience) : again(vigil);
      if (lease.isEmpty()) {
        patience.busy();
      }
      return lease;
    } catch (LockException.Unreachable | LockException.Unanswered e) {
      close();
      patience.broken(e, context.sessions().everOpened());
      return Optional.empty();
    }
  }

  private Optional<HeldLease> first(Patience patience) {
    Call call = lock.call();
    Session session = context.sessions().current(call);
    Optional<HeldLease> lease = claim.attempt(call, session);
    if (lease.isPresent() || patience.remaining() <= 0) {
      return lease;
    }
    Vigil kept = claim.keepVigil(call, session, line::released);
    vigil = kept;
    return again(kept);
  }

  private Optional<HeldLease> again(Vigil kept) {
    Call call = lock.call();
    context.sessions().requireNotClosed(call);
    Optional<HeldLease> lease = kept.attempt(call);
    if (kept.isOver()) {
      close();
    }
    return lease;
  }

  /** How long to sleep at most. */
  long pauseNanos() {
    Vigil kept = vigil;
    return kept == null ? backoff.next() : kept.pauseNanos();
  }

  @Override
  public void close() {
    Vigil kept = vigil;
    vigil = null;
    if (kept != null) {
      kept.close();
    }
  }
}
