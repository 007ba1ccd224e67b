package io.amqplocks;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.admin.AdminMutex;
import io.amqplocks.internal.admin.PersistentMutexAdministration;
import io.amqplocks.internal.admin.SlotAdministration;
import io.amqplocks.internal.admin.SlotChanges;
import io.amqplocks.internal.fencing.CounterMaking;
import io.amqplocks.internal.fencing.Fence;
import io.amqplocks.internal.fencing.FenceAdministration;
import io.amqplocks.internal.fencing.FencedLeases;
import io.amqplocks.internal.lease.LeaseBook;
import io.amqplocks.internal.lease.Notices;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.lease.Verification;
import io.amqplocks.internal.mutex.MutexClaim;
import io.amqplocks.internal.mutex.PersistentMutexClaim;
import io.amqplocks.internal.probe.ExistenceProbe;
import io.amqplocks.internal.probe.SelfCheck;
import io.amqplocks.internal.session.Connector;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.slots.SlotChoice;
import io.amqplocks.internal.slots.SlotClaim;
import io.amqplocks.internal.slots.SlotCounts;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock;
import io.amqplocks.internal.waiting.WaitingLines;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FenceAdmin;
import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.PersistentMutexAdmin;
import io.amqplocks.lock.SemaphoreAdmin;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Function;

/**
 * Distributed locks on one RabbitMQ broker. Make one for a process and share it: it is safe for any
 * number of threads. It opens two connections of its own at first use, one that holds and one that
 * asks, and a new pair when the first breaks; the leases of a broken connection are lost.
 *
 * <p>What is promised: at most as many holders as slots, as the broker sees it; the slots of a dead
 * holder come back by themselves; a holder is told when its lease is lost. What is not: that a holder
 * knows of the loss before the next one begins. A resource that such an overlap could harm must check
 * for itself.
 */
public final class AmqpLocks implements AutoCloseable {

  private final QueueNames names;
  private final Duration callTimeout;
  private final ThreadPoolExecutor background;
  private final ScheduledExecutorService scheduler;
  private final Notices notices;
  private final Notices silence;
  private final Sessions sessions;
  private final WaitingLines lines = new WaitingLines();
  private final LeaseBook leases;
  private final LeaseBook administration;
  private final CounterMaking counterMaking;
  private final Taking fencedLeases;
  private final ExistenceProbe probe;
  private final SlotCounts slotCounts = new SlotCounts();
  private final SlotChoice slotChoice;
  private final StatusRecorder recorder = new StatusRecorder();

  AmqpLocks(AmqpLocksBuilder settings) {
    names = settings.names;
    callTimeout = settings.callTimeout();
    slotChoice = new SlotChoice(settings.slotOrder);
    probe = ExistenceProbe.of(settings.probing);
    Threads threads = new Threads(settings.connectionName);
    background = threads.background();
    scheduler = threads.scheduler();
    List<LockListener> listeners = new ArrayList<>(settings.listeners);
    listeners.add(0, recorder);
    notices = new Notices(listeners, threads);
    silence = new Notices(List.of(), threads);
    Connector connector =
        new Connector(
            settings.factory,
            settings.addresses(),
            settings.connectionName,
            settings.heartbeat,
            callTimeout,
            threads);
    leases = new LeaseBook(callTimeout, Ticker.SYSTEM, notices, background, lines::released);
    counterMaking = new CounterMaking(names, Clock.systemUTC());
    fencedLeases = new FencedLeases(leases, new Fence(names, counterMaking));
    administration =
        new LeaseBook(
            callTimeout,
            Ticker.SYSTEM,
            silence,
            background,
            lock -> lines.released(names.admin(lock)));
    Verification verification =
        new Verification(scheduler, settings.verifyEvery(), List.of(leases, administration));
    sessions =
        new Sessions(
            connector,
            background,
            threads,
            callTimeout,
            Ticker.SYSTEM,
            new SessionNotices(
                notices,
                verification,
                new SelfCheck(probe, names, callTimeout, Ticker.SYSTEM, background)));
  }

  /** Begins the settings; the factory is copied and never changed. */
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
    return fenceable(id, via -> new MutexClaim(names.mutex(id.name()), via));
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
    return fenceable(id, via -> new PersistentMutexClaim(names.persistentMutex(id.name()), via));
  }

  /**
   * The semaphore of that name; it must have been created by an administrator.
   *
   * @throws LockException.Invalid if the name is not allowed
   */
  public AmqpLock semaphore(String name) {
    LockId id = LockId.semaphore(name);
    return fenceable(id, via -> new SlotClaim(slots(id), slotChoice, via));
  }

  /** Administers the locks that outlive their clients, and fences. */
  public LockAdmin admin() {
    return new LockAdmin() {
      @Override
      public SemaphoreAdmin semaphore(String name) {
        return administer(name);
      }

      @Override
      public PersistentMutexAdmin persistentMutex(String name) {
        LockId id = LockId.persistentMutex(name);
        String queue = names.persistentMutex(id.name());
        return new PersistentMutexAdministration(
            id, queue, adminMutex(id), sessions, callTimeout, Ticker.SYSTEM);
      }

      @Override
      public FenceAdmin fence(LockId lock) {
        return new FenceAdministration(lock, counterMaking, sessions, Ticker.SYSTEM);
      }
    };
  }

  private SemaphoreAdmin administer(String name) {
    LockId id = LockId.semaphore(name);
    Slots slots = slots(id);
    SlotChanges changes =
        new SlotChanges(
            id,
            slots,
            adminMutex(id),
            sessions,
            callTimeout,
            Ticker.SYSTEM,
            () -> lines.released(id));
    return new SlotAdministration(id, slots, changes);
  }

  private AdminMutex adminMutex(LockId id) {
    String queue = names.admin(id);
    Claim claim = new MutexClaim(queue, administration);
    return new AdminMutex(id, lock(id, queue, claim, claim, silence));
  }

  private Slots slots(LockId id) {
    return new Slots(id.name(), names, probe, slotCounts);
  }

  private AmqpLock fenceable(LockId id, Function<Taking, Claim> claim) {
    return lock(id, id, claim.apply(leases), claim.apply(fencedLeases), notices);
  }

  private AmqpLock lock(LockId id, Object lineKey, Claim claim, Claim fenced, Notices to) {
    return new QueuedLock(
        id, lineKey, claim, fenced, sessions, lines, to, callTimeout, Ticker.SYSTEM);
  }

  /** How things stand. Asks nobody, never blocks. */
  public LocksStatus status() {
    LocksStatus.Session session = LocksStatus.Session.NOT_OPENED;
    if (sessions.isClosed()) {
      session = LocksStatus.Session.CLOSED;
    } else if (sessions.ifOpen().isPresent()) {
      session = LocksStatus.Session.OPEN;
    } else if (sessions.everOpened()) {
      session = LocksStatus.Session.ENDED;
    }
    boolean blocked = sessions.ifOpen().map(open -> open.prober().blocked().isDone()).orElse(false);
    return new LocksStatus(session, blocked, leases.held(), lines.waiting(), recorder.lastLoss());
  }

  /**
   * Ends the use of all locks: refuses new acquires, sends waiting ones away with {@link
   * LockException.Closed}, releases all leases, then closes the connections. Bounded by a few call
   * timeouts. Closing again does nothing.
   */
  @Override
  public void close() {
    sessions.refuse();
    lines.releaseAll();
    scheduler.shutdown();
    leases.releaseAll();
    administration.releaseAll();
    sessions.close();
    background.shutdown();
    notices.close();
    silence.close();
  }
}
