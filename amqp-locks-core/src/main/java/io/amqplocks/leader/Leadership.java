package io.amqplocks.leader;

import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One term of a leader: from when it acquired the lock until it gave it up or lost it. It never
 * becomes current again. Any thread may call any method; none of them blocks or asks the broker.
 *
 * <p>Concurrency: the reason of the end is set once, by the thread that finds one first. A lease in
 * doubt may be certain again a moment later. So the thread that sees the doubt ends the term, and
 * does not leave that to the election, which looks every 0.1 s.
 */
public final class Leadership {

  private final Lease lease;
  private final AtomicReference<@Nullable Revocation> revocation = new AtomicReference<>();

  Leadership(Lease lease) {
    this.lease = lease;
  }

  /** The lock that stands for the leadership. */
  public LockId lock() {
    return lease.lock();
  }

  /**
   * The token by which a resource can refuse writes of earlier leaders: the tokens of later terms
   * are higher. Empty unless the election is on a lock with fencing tokens, such as {@code
   * locks.mutex(name).fenced()} or {@code locks.fencedMutex(name)}.
   */
  public Optional<FencingToken> fencingToken() {
    return lease.fencingTokenIfAny();
  }

  /**
   * Whether this process certainly leads by this term. It is false from the moment at which the
   * process began to give leadership up, and while the lock is {@link LeaseState#UNCERTAIN} or
   * {@link LeaseState#LOST}.
   */
  public boolean isCurrent() {
    return endIfNotHeld().isEmpty();
  }

  /** Why the term ended; empty if nobody has noticed an end yet. */
  public Optional<Revocation> revocation() {
    return Optional.ofNullable(revocation.get());
  }

  Lease lease() {
    return lease;
  }

  /** Ends the term, unless it has ended before for another reason, which stays. */
  Revocation end(Revocation why) {
    Revocation before = revocation.compareAndExchange(null, why);
    return before == null ? why : before;
  }

  /** Ends the term if its lease is in doubt or over. Returns why it ended, if it has. */
  Optional<Revocation> endIfNotHeld() {
    Revocation ended = revocation.get();
    if (ended == null) {
      Revocation why =
          switch (lease.state()) {
            case HELD -> null;
            case UNCERTAIN ->
                new Revocation(
                    Cause.UNCERTAIN, "the broker has not confirmed the lock for too long");
            case LOST ->
                new Revocation(
                    Cause.LOST, lease.lossReason().map(Object::toString).orElse("no reason given"));
            case RELEASED -> new Revocation(Cause.LOST, "the lock was released");
          };
      ended = why == null ? null : end(why);
    }
    return Optional.ofNullable(ended);
  }

  @Override
  public String toString() {
    String token = fencingToken().map(each -> ", fencing token " + each.number()).orElse("");
    return "leadership by " + lock() + token;
  }
}
