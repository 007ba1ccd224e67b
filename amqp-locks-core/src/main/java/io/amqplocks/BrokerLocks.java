package io.amqplocks;

import io.amqplocks.admin.LockAdmin;
import io.amqplocks.internal.exclusive.ExclusiveQueueMutexClaim;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.permits.PermitsKind;
import io.amqplocks.internal.permits.SlotCount;
import io.amqplocks.internal.readwrite.ReadClaim;
import io.amqplocks.internal.readwrite.WriteClaim;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.slots.SlotChoice;
import io.amqplocks.internal.slots.SlotClaim;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.internal.tokens.TokenClaim;
import io.amqplocks.internal.tokens.TokenClaim.Missing;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.FenceableKind;
import io.amqplocks.internal.waiting.NotifiedClaim;
import io.amqplocks.internal.waiting.QueuedLock;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.internal.waiting.Variant;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.AmqpReadWriteLock;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Locks at a broker. Each kind of lock is put together here from the {@link Components}. */
final class BrokerLocks implements AmqpLocks {

  private final Components components;
  private final SlotChoice slotChoice;

  BrokerLocks(AmqpLocksBuilder settings) {
    components = new Components(settings);
    slotChoice = new SlotChoice(settings.slotOrder);
  }

  @Override
  public AmqpLock mutex(String name) {
    LockId id = LockId.mutex(name);
    return lock(id, plain(via -> new MutexClaim(components.names.mutex(id.name()), via)));
  }

  @Override
  public AmqpLock exclusiveQueueMutex(String name) {
    LockId id = LockId.exclusiveQueueMutex(name);
    return lock(
        id,
        notified(
            id,
            via ->
                new ExclusiveQueueMutexClaim(components.names.exclusiveQueueMutex(id.name()), via),
            components.leases,
            components.fencedLeaseFactory));
  }

  @Override
  public AmqpLock persistentMutex(String name) {
    LockId id = LockId.persistentMutex(name);
    return lock(
        id, plain(via -> MutexClaim.persistent(components.names.persistentMutex(id.name()), via)));
  }

  @Override
  public AmqpLock slotSemaphore(String name) {
    LockId id = LockId.slotSemaphore(name);
    Slots slots = components.slots(id);
    Function<LeaseFactory, Claim> claim =
        via -> new SlotClaim(slots, slotChoice, components.exclusive(via));
    return severalPermits(
        id,
        notified(id, claim, components.leases, components.fencedLeaseFactory),
        notified(id, claim, components.parts, components.fencedPartFactory),
        (call, session) -> slots.countIfCertain(call, session.prober()));
  }

  @Override
  public AmqpLock tokenSemaphore(String name) {
    LockId id = LockId.tokenSemaphore(name);
    return severalPermits(
        id,
        tokens(components.leases, Missing.FAILS, false),
        tokens(components.parts, Missing.FAILS, false),
        components.tokens::slots);
  }

  @Override
  public AmqpLock fencedMutex(String name) {
    return lock(
        LockId.fencedMutex(name),
        tokens(components.leases, (call, session) -> components.firstAcquires.create(call), true));
  }

  @Override
  public AmqpReadWriteLock readWriteLock(String name) {
    LockId readers = LockId.readLock(name);
    LockId writers = LockId.writeLock(name);
    String queue = components.names.readWrite(readers.name());
    String wakeQueue = components.names.wake(writers);
    MutexClaim gate =
        MutexClaim.awaitingReleases(
            components.names.readWriteGate(readers.name()), components.turns);
    return new AmqpReadWriteLock(
        lock(readers, plain(via -> new ReadClaim(queue, gate, via))),
        lock(writers, plain(via -> new WriteClaim(queue, gate, wakeQueue, via))));
  }

  @Override
  public LockAdmin admin() {
    return new AdminFactory(components);
  }

  /** A kind of lock whose claims look after their waiters. */
  private Kind plain(Function<LeaseFactory, Claim> claim) {
    return new FenceableKind(claim, components.leases, components.fencedLeaseFactory);
  }

  /** A kind of lock whose waiters are notified by its wake queue. */
  private Kind notified(
      LockId id,
      Function<LeaseFactory, Claim> claim,
      LeaseFactory unfencedLeases,
      LeaseFactory fencedLeases) {
    return new FenceableKind(
        via ->
            new NotifiedClaim(
                claim.apply(via),
                components.names.wake(id),
                queue -> components.names.isHolder(id, queue)),
        unfencedLeases,
        fencedLeases);
  }

  private Kind tokens(LeaseFactory leases, Missing missing, boolean alwaysFenced) {
    return TokenClaim.kind(
        components.tokens,
        components.contended,
        missing,
        components.quorumSessions,
        leases,
        alwaysFenced);
  }

  /** A semaphore whose leases may have several slots. */
  private AmqpLock severalPermits(LockId id, Kind one, Kind part, SlotCount count) {
    Supplier<Claim> turns = () -> new MutexClaim(components.names.permits(id), components.turns);
    return lock(id, new PermitsKind(one, part, turns, count, components.leases));
  }

  private AmqpLock lock(LockId id, Kind kind) {
    return new QueuedLock(id, kind, Variant.PLAIN, id, components.users);
  }

  @Override
  public void connect() {
    components.connect();
  }

  @Override
  public Optional<LockException> outage() {
    return components.outage();
  }

  @Override
  public LocksStatus status() {
    LocksStatus.Session session = session();
    boolean blocked =
        Stream.of(components.sessions, components.quorumSessions)
            .flatMap(each -> each.ifOpen().stream())
            .anyMatch(Session::isBlocked);
    List<LeaseSnapshot> held = leases();
    int uncertain =
        (int) held.stream().filter(lease -> lease.state() == LeaseState.UNCERTAIN).count();
    return new LocksStatus(
        session,
        blocked,
        held.size(),
        uncertain,
        components.waitQueues.waiting(),
        components.recorder.lastLoss(),
        components.recorder.lastLossAt());
  }

  private LocksStatus.Session session() {
    List<Sessions> opened =
        Stream.of(components.sessions, components.quorumSessions)
            .filter(Sessions::everOpened)
            .toList();
    if (components.sessions.isClosed()) {
      return LocksStatus.Session.CLOSED;
    }
    if (opened.isEmpty()) {
      return LocksStatus.Session.NOT_OPENED;
    }
    return opened.stream().allMatch(each -> each.ifOpen().isPresent())
        ? LocksStatus.Session.OPEN
        : LocksStatus.Session.ENDED;
  }

  @Override
  public List<LeaseSnapshot> leases() {
    return components.leases.views();
  }

  @Override
  public Map<LockId, Integer> waiting() {
    return components.waitQueues.waitingByLock();
  }

  @Override
  public int revoke(LockId lock, String why) {
    return components.leases.revoke(lock, new LossReason(LossReason.Cause.REVOKED, why));
  }

  @Override
  public void close(Duration timeout) {
    components.close(timeout);
  }
}
