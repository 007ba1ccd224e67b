package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.util.List;
import java.util.Optional;

/**
 * A hold of several slots of one semaphore. It consists of leases of one slot each, of which the
 * user's code never hears. It stands as long as all of them do: when one is lost, so is the hold,
 * and the others go back.
 *
 * <p>Concurrency: immutable. A part that is lost calls back at once, on the thread that learned of
 * it. If it was lost before there was somebody to call, {@link #secure} finds that out.
 */
public final class PermitsHold implements Hold {

  private final List<HeldLease> parts;

  private PermitsHold(List<HeldLease> parts) {
    this.parts = parts;
  }

  /**
   * A contest that is won by having those leases. It is lost if one of them is not held any more,
   * or belongs to another session, and then they are given back.
   */
  public static Contest contest(List<HeldLease> parts) {
    return (call, session) -> {
      boolean complete =
          parts.stream()
              .allMatch(part -> part.session().equals(session) && part.state() == LeaseState.HELD);
      if (!complete) {
        giveBack(call, parts);
        return Optional.empty();
      }
      return Optional.of(new PermitsHold(List.copyOf(parts)));
    };
  }

  /** Gives leases back that nobody was given. What the call has no time for is done later. */
  public static void giveBack(Call call, List<HeldLease> parts) {
    for (HeldLease part : parts) {
      if (call.remainingNanos() > 0) {
        part.withdraw(call);
      } else {
        part.withdrawLater();
      }
    }
  }

  private HeldLease first() {
    return parts.get(0);
  }

  @Override
  public LockId lock() {
    return first().lock();
  }

  @Override
  public int slot() {
    return first().slot();
  }

  @Override
  public int permits() {
    return parts.size();
  }

  @Override
  public boolean secure(Call call, Session session, Runnable revoked) {
    for (HeldLease part : parts) {
      part.onLoss(revoked);
      part.verifiedByAnother();
    }
    return parts.stream().allMatch(part -> part.state() == LeaseState.HELD);
  }

  /** The first answer that is not good decides: nothing better can follow. */
  @Override
  public HoldStatus status(Call call, Session session) {
    for (HeldLease part : parts) {
      HoldStatus status = part.check(call);
      if (status != HoldStatus.OURS) {
        return status;
      }
    }
    return parts.stream().anyMatch(part -> part.state() == LeaseState.LOST)
        ? HoldStatus.GONE
        : HoldStatus.OURS;
  }

  @Override
  public boolean isInDoubt() {
    return parts.stream().anyMatch(part -> part.hold().isInDoubt());
  }

  /**
   * The slots go to the broker and not to waiters of this process. A waiter that is handed a slot
   * gets it as a lease of one, and these parts are registered where no user sees them.
   */
  @Override
  public boolean mayBeHandedTo(boolean fenced) {
    return false;
  }

  @Override
  public void release(Call call, Session session) {
    giveBack(call, parts);
  }

  @Override
  public Optional<FencingToken> tokenIfAny() {
    return first().fencingTokenIfAny();
  }

  @Override
  public List<FencingToken> tokens() {
    return parts.stream().flatMap(part -> part.fencingTokenIfAny().stream()).toList();
  }

  @Override
  public String queueName() {
    return first().hold().queueName();
  }

  /** The oldest proof counts: the first slots may have been won long before the last one. */
  @Override
  public long proofAgeNanos(Session session) {
    long now = session.ticker().nanos();
    return parts.stream().mapToLong(part -> now - part.verifiedAt()).max().orElseThrow();
  }

  @Override
  public LossReason loss() {
    return parts.stream()
        .flatMap(part -> part.lossReason().stream())
        .findFirst()
        .map(
            reason ->
                new LossReason(
                    reason.cause(),
                    "one of %d permits was lost, and the others are released: %s"
                        .formatted(permits(), reason.detail())))
        .orElseGet(
            () -> new LossReason(Cause.REVOKED, "one of " + permits() + " permits was lost"));
  }
}
