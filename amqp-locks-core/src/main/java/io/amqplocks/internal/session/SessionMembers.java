package io.amqplocks.internal.session;

import io.amqplocks.internal.broker.FailureLog;
import io.amqplocks.internal.session.Session.Member;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What ends with a session, and its end.
 *
 * <p>Concurrency: a session ends once, by compare-and-set of the reason. A member is notified by
 * the thread that removes it from the set. That is the thread that ends the session, or the
 * member's own thread if it finds after joining that the session has ended. At least one of the two
 * sees the member, and only one can remove it.
 */
final class SessionMembers {

  // Operators know the messages below as the session's.
  private static final Logger log = LoggerFactory.getLogger(Session.class);

  /** How many lost leases the log names. */
  private static final int MOST_NAMED = 10;

  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private final boolean isShared;
  private final AtomicReference<@Nullable LossReason> ended = new AtomicReference<>();

  /**
   * Has no members yet.
   *
   * @param isShared whether the session is for many leases. The end of one for a single lease is
   *     worth a line of the log only if it costs that lease.
   */
  SessionMembers(boolean isShared) {
    this.isShared = isShared;
  }

  /** Notifies the member once when the session ends, or now if it has. */
  void join(Member member) {
    members.add(member);
    LossReason reason = ended.get();
    if (reason != null) {
      tell(member, reason);
    }
  }

  /** Removes the member, which is no longer notified. */
  void leave(Member member) {
    members.remove(member);
  }

  /** Whether a lease of the lock that has not ended is a member, besides that one. */
  boolean hasLease(LockId lock, Member besides) {
    return members.stream().anyMatch(member -> !member.equals(besides) && member.isOf(lock));
  }

  /** Whether the session has ended. */
  boolean haveEnded() {
    return ended.get() != null;
  }

  /** Why the session has ended; null if it has not. */
  @Nullable LossReason endReason() {
    return ended.get();
  }

  /** The leases that depend on the session, for the log. */
  List<String> leases() {
    return members.stream().flatMap(member -> member.leases().stream()).sorted().toList();
  }

  /**
   * Ends the session and notifies all members; false if it had ended before.
   *
   * @param isReported whether the log already says of its leases that they are lost
   */
  boolean end(LossReason reason, boolean isReported) {
    if (haveEnded()) {
      return false;
    }
    // Before it has ended: whoever looks at a lease after that takes it from the members.
    List<String> leases = isReported ? List.of() : leases();
    if (!ended.compareAndSet(null, reason)) {
      return false;
    }
    members.forEach(member -> tell(member, reason));
    report(reason, leases);
    return true;
  }

  private void report(LossReason reason, List<String> leases) {
    if (leases.isEmpty() && !isShared) {
      log.debug("Session for one lease ended: {}", reason);
      return;
    }
    if (leases.isEmpty()) {
      log.info("Session with RabbitMQ ended: {}", reason);
      return;
    }
    int more = leases.size() - MOST_NAMED;
    log.warn(
        "Session with RabbitMQ ended: {}; its leases are lost: {}{}",
        reason,
        String.join("; ", leases.subList(0, Math.min(MOST_NAMED, leases.size()))),
        more > 0 ? "; and " + more + " more" : "");
  }

  private void tell(Member member, LossReason reason) {
    if (!members.remove(member)) {
      return;
    }
    try {
      member.sessionEnded(reason);
    } catch (RuntimeException | Error e) {
      // The others are to hear of it too.
      FailureLog.write(() -> log.error("The end of the session failed for one of its members", e));
    }
  }
}
