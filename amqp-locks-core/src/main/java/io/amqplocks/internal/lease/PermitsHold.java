package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A hold of several slots of one semaphore. It consists of leases of one slot each, of which the
 * user's code never hears. It stands as long as all of them do: when one is lost, so is the hold,
 * and the others go back.
 *
 * <p>A token that is verified may move to another slot, or have been elsewhere in between. While it
 * is collected nobody is told its fencing token, so it takes the one that it came back with when
 * the lease begins (ADR 63).
 *
 * <p>Concurrency: immutable. A part that is lost calls back at once, on the thread that learned of
 * it. If it was lost before there was somebody to call, {@link #secure} finds that out.
 */
public final class PermitsHold implements Hold {

  /** How often to renumber at most, until nothing has moved meanwhile. */
  private static final int ROUNDS = 10;

  /** How often to look whether a token is back. After a tenth of a second it is in doubt. */
  private static final int LOOKS = 100;

  private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

  private final List<HeldLease> parts;

  private PermitsHold(List<HeldLease> parts) {
    this.parts = parts;
  }

  /**
   * Whether a lease can begin with those leases now: all are held, by that session or by one whose
   * shared session it is, and the token of each is here.
   */
  public static boolean mayBegin(List<HeldLease> parts, Session session) {
    return parts.stream()
        .allMatch(
            part ->
                part.session().shared().equals(session)
                    // In this order: another token that has come since is seen by the state.
                    && !part.hold().isUnderWay()
                    && part.state() == LeaseState.HELD);
  }

  /**
   * A contest that is won by having those leases. The hold is secured if a lease {@linkplain
   * #mayBegin may begin} with them. Else they are given back.
   */
  public static Contest contest(List<HeldLease> parts) {
    return (call, session) -> Optional.of(new PermitsHold(List.copyOf(parts)));
  }

  /** Gives leases back that nobody was given. What the call has no time for is done later. */
  public static void giveBack(Call call, List<HeldLease> parts) {
    parts.forEach(part -> LeaseFactory.giveBack(call, part));
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
  public List<Integer> slots() {
    return parts.stream().map(HeldLease::slot).toList();
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
    // More than one, because a verification that had begun may move tokens between the two looks.
    for (int i = 0; i < ROUNDS; i++) {
      awaitBack(call);
      if (!mayBegin(parts, session)) {
        return false;
      }
      List<FencingToken> before = tokens();
      parts.forEach(part -> part.hold().renumber());
      if (tokens().equals(before)) {
        return true;
      }
    }
    return false;
  }

  /** A verification that had begun may have a token on its way, or look at what came for it. */
  private void awaitBack(Call call) {
    for (int i = 0; i < LOOKS && isAnyUnsettled(); i++) {
      Futures.pause(Math.min(PAUSE_NANOS, call.remainingNanos()));
    }
  }

  private boolean isAnyUnsettled() {
    return parts.stream()
        .map(HeldLease::hold)
        .anyMatch(hold -> hold.isUnderWay() || hold.isInDoubt());
  }

  /**
   * The first answer that is not good decides: nothing better can follow. The part that was
   * verified longest ago comes first, so that the next pass gets to those that this one has no time
   * for.
   */
  @Override
  public HoldStatus status(Call call, Session session) {
    long now = call.ticker().nanos();
    List<HeldLease> longestAgoFirst =
        parts.stream()
            .map(part -> Map.entry(part, part.verifiedAt() - now))
            .sorted(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .toList();
    for (HeldLease part : longestAgoFirst) {
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
  public OptionalLong oldestProof() {
    Session session = first().session();
    return OptionalLong.of(session.ticker().nanos() - proofAgeNanos(session));
  }

  /** What ended the session did not end one permit only. */
  @Override
  public LossReason loss() {
    return parts.stream()
        .flatMap(part -> part.lossReason().stream())
        .findFirst()
        .map(
            reason ->
                reason.cause() == Cause.SESSION_ENDED || reason.cause() == Cause.EXPIRED
                    ? reason
                    : new LossReason(
                        reason.cause(),
                        "one of %d permits was lost, and the others are released: %s"
                            .formatted(permits(), reason.detail())))
        .orElseGet(
            () -> new LossReason(Cause.REVOKED, "one of " + permits() + " permits was lost"));
  }
}
