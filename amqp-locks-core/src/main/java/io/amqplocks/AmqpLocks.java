package io.amqplocks;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.mutex.PersistentMutexClaim;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.slots.SlotChoice;
import io.amqplocks.internal.slots.SlotClaim;
import io.amqplocks.internal.tokens.TokenClaim.Missing;
import io.amqplocks.internal.tokens.TokenKind;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.internal.waiting.QueuedLock.Variant;
import io.amqplocks.internal.waiting.WokenClaim;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LocalLease;
import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Distributed locks on one RabbitMQ broker. Make one for a process and share it: it is safe for any
 * number of threads. It opens connections of its own, each at first use: one that holds, and others to hold
 * quorum tokens, to look for slots, and to wait. When one breaks that holds, its leases are lost, and the
 * next acquire opens another.
 *
 * <p>What is promised: at most as many holders as slots, as the broker sees it; the slots of a dead
 * holder come back by themselves; a holder is told when its lease is lost. What is not: that a holder
 * knows of the loss before the next one begins. A resource that such an overlap could harm must check
 * for itself.
 */
public final class AmqpLocks implements AutoCloseable {

  private final Parts parts;
  private final SlotChoice slotChoice;

  AmqpLocks(AmqpLocksBuilder settings) {
    parts = new Parts(settings);
    slotChoice = new SlotChoice(settings.slotOrder);
  }

  /**
   * Begins the settings; the factory is copied and never changed. The copy keeps where the broker is and who
   * we are, with credentials, TLS and SASL. It shares no thread with other connections of the factory and
   * calls none of its listeners; so the connections use blocking I/O, and settings that only NIO or Netty
   * would read do not count: let TLS be set by {@code useSslProtocol} or {@code setSslContextFactory}.
   */
  public static AmqpLocksBuilder builder(ConnectionFactory factory) {
    return new AmqpLocksBuilder(factory);
  }

  /**
   * The mutex of that name, which needs no creating.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  public AmqpLock mutex(String name) {
    LockId id = LockId.mutex(name);
    return fenceable(id, via -> new MutexClaim(parts.names.mutex(id.name()), via));
  }

  /**
   * The persistent mutex of that name; an administrator must have enabled it. Each held one occupies a
   * channel of the connection: one {@code AmqpLocks} can hold three quarters of the broker's {@code
   * channel_max} at a time, 1,535 by default.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  public AmqpLock persistentMutex(String name) {
    LockId id = LockId.persistentMutex(name);
    return fenceable(
        id, via -> new PersistentMutexClaim(parts.names.persistentMutex(id.name()), via));
  }

  /**
   * The semaphore of that name; it must have been created by an administrator.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  public AmqpLock semaphore(String name) {
    LockId id = LockId.semaphore(name);
    return fenceable(id, via -> new SlotClaim(parts.slots(id), slotChoice, via));
  }

  /**
   * The token semaphore of that name; it must have been created by an administrator. Each waiting call
   * at the head of its line and each held token occupies a channel of the connection, as a persistent
   * mutex does.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  public AmqpLock tokenSemaphore(String name) {
    return tokens(LockId.tokenSemaphore(name), Missing.FAILS, false);
  }

  /**
   * The fenced mutex of that name: the short way to a lock whose stale holders a resource can refuse. It
   * needs no creating; its first acquire ever makes it. Each lease has a fencing token, drawn from the
   * quorum queue that the mutex is.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  public AmqpLock fencedMutex(String name) {
    return tokens(LockId.fencedMutex(name), parts::makeFencedMutex, true);
  }

  /** Administers the locks that outlive their clients, and fences. */
  public LockAdmin admin() {
    return new Administrators(parts);
  }

  private AmqpLock fenceable(LockId id, Function<Taking, Claim> claim) {
    String wakeQueue = parts.names.wake(id);
    Predicate<String> holders = queue -> parts.names.isHolder(id, queue);
    Claim unfenced = new WokenClaim(claim.apply(parts.leases), wakeQueue, holders);
    Claim fenced = new WokenClaim(claim.apply(parts.fencedLeases), wakeQueue, holders);
    return lock(id, wanted -> wanted.fenced() ? fenced : unfenced);
  }

  private AmqpLock tokens(LockId id, Missing missing, boolean alwaysFenced) {
    return lock(
        id, new TokenKind(parts.tokens, missing, parts.quorumSessions, parts.leases, alwaysFenced));
  }

  private AmqpLock lock(LockId id, Kind kind) {
    return new QueuedLock(id, kind, Variant.PLAIN, id, parts.users);
  }

  /** How things stand. Asks nobody, never blocks. */
  public LocksStatus status() {
    LocksStatus.Session session = session();
    boolean blocked =
        parts.sessions.ifOpen().map(open -> open.prober().blocked().isDone()).orElse(false);
    List<LocalLease> held = leases();
    int uncertain =
        (int) held.stream().filter(lease -> lease.state() == LeaseState.UNCERTAIN).count();
    return new LocksStatus(
        session,
        blocked,
        held.size(),
        uncertain,
        parts.lines.waiting(),
        parts.recorder.lastLoss(),
        parts.recorder.lastLossAt());
  }

  private LocksStatus.Session session() {
    List<Sessions> opened =
        Stream.of(parts.sessions, parts.quorumSessions).filter(Sessions::everOpened).toList();
    if (parts.sessions.isClosed()) {
      return LocksStatus.Session.CLOSED;
    }
    if (opened.isEmpty()) {
      return LocksStatus.Session.NOT_OPENED;
    }
    return opened.stream().allMatch(each -> each.ifOpen().isPresent())
        ? LocksStatus.Session.OPEN
        : LocksStatus.Session.ENDED;
  }

  /** The leases of this process, in no order. Asks nobody, never blocks. */
  public List<LocalLease> leases() {
    return parts.leases.views();
  }

  /** How many calls of this process wait, for each lock that any does. Asks nobody, never blocks. */
  public Map<LockId, Integer> waiting() {
    return parts.lines.waitingByLock();
  }

  /**
   * Takes all leases of that lock that this process holds from their holders, who are told of a loss with
   * {@link LossReason.Cause#REVOKED}, and gives them back to the broker. What a holder does under its
   * lease goes on until it reacts.
   *
   * @param why in words, for those who are told
   * @return how many leases there were
   */
  public int revoke(LockId lock, String why) {
    return parts.leases.revoke(lock, new LossReason(LossReason.Cause.REVOKED, why));
  }

  /**
   * Ends the use of all locks: refuses new acquires, sends waiting ones away with {@link
   * LockException.Closed}, releases all leases, then closes the connections. Bounded by a few call
   * timeouts. Closing again does nothing.
   */
  @Override
  public void close() {
    close(Duration.ZERO);
  }

  /**
   * As {@link #close()}, but between refusing new acquires and releasing all leases it waits until their
   * holders have given them back, so that work in hand can end under its lock.
   *
   * @param patience how long to wait for them; an interrupt ends the waiting, and stays set
   */
  public void close(Duration patience) {
    parts.close(patience);
  }
}
