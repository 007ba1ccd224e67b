package io.amqplocks;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.exclusive.ExclusiveLeases;
import io.amqplocks.internal.fencing.CounterFactory;
import io.amqplocks.internal.fencing.Fence;
import io.amqplocks.internal.fencing.FencedHold;
import io.amqplocks.internal.fencing.FencingTokenSource;
import io.amqplocks.internal.lease.EventDispatcher;
import io.amqplocks.internal.lease.KeepAlive;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.lease.LeaseRegistry;
import io.amqplocks.internal.lease.PeriodicVerification;
import io.amqplocks.internal.lease.ReleaseListener;
import io.amqplocks.internal.session.IdleConnections;
import io.amqplocks.internal.session.LeaseSessions;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.slots.SlotCounts;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.internal.slots.probe.ExistenceProbe;
import io.amqplocks.internal.slots.probe.SelfCheck;
import io.amqplocks.internal.tokens.ContendedMutexes;
import io.amqplocks.internal.tokens.FirstAcquires;
import io.amqplocks.internal.tokens.TokenQueueLocator;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.tokens.admin.TokenWithdrawals;
import io.amqplocks.internal.waiting.QueuedLock.Context;
import io.amqplocks.internal.waiting.ReleaseNotifier;
import io.amqplocks.internal.waiting.WaitQueues;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of one {@link AmqpLocks}: creates and connects them, and closes them in the right
 * order.
 */
final class Components {

  private static final Logger log = LoggerFactory.getLogger(AmqpLocks.class);

  /** How many locks a warning names. */
  private static final int MOST_NAMED = 10;

  /** The time between two looks at the leases that are still held while closing. */
  private static final Duration LOOK_AGAIN = Duration.ofMillis(10);

  final QueueNames names;
  final Duration callTimeout;
  final String virtualHost;
  final WaitQueues waitQueues;
  final Clock clock = Clock.systemUTC();
  final StatusRecorder recorder = new StatusRecorder(clock);
  final LeaseRegistry leases;
  final LeaseRegistry administration;
  final LeaseFactory fencedLeaseFactory;

  /** Leases of one slot that are, or may become, parts of a lease of several. */
  final LeaseRegistry parts;

  final LeaseFactory fencedPartFactory;

  /** The turns of calls that collect several slots. */
  final LeaseRegistry turns;

  final CounterFactory counterFactory;
  final Sessions sessions;
  final Sessions quorumSessions;
  private final LeaseSessions leaseSessions;
  final TokenQueueLocator tokens;
  final ContendedMutexes contended = new ContendedMutexes();
  final FirstAcquires firstAcquires;
  final TokenWithdrawals withdrawals;
  final Context users;
  final Context administrators;
  private final ExistenceProbe probe;
  private final SlotCounts slotCounts = new SlotCounts();
  private final ThreadPoolExecutor background;
  private final ThreadPoolExecutor verifying;
  private final ThreadPoolExecutor beating;
  private final ScheduledExecutorService scheduler;
  private final ScheduledExecutorService timer;
  private final ThreadPoolExecutor waitingWork;
  private final EventDispatcher notices;
  private final EventDispatcher silence;

  Components(AmqpLocksBuilder settings) {
    names = settings.names;
    callTimeout = settings.callTimeout();
    probe = ExistenceProbe.of(settings.probing);
    virtualHost = settings.factory.getVirtualHost();
    Threads threads = new Threads(settings.connectionName);
    timer = threads.timer();
    background = threads.background(timer);
    verifying = threads.verifying(timer);
    beating = threads.beating(timer);
    scheduler = threads.scheduler();
    waitQueues = new WaitQueues(Ticker.SYSTEM::nanos, timer);
    waitingWork = threads.waitingWork(timer);
    notices = new EventDispatcher(settings.listeners, recorder, settings.observers, threads);
    silence = new EventDispatcher(List.of(), LockListener.NO_OP, threads);
    leases =
        new LeaseRegistry(
            callTimeout,
            Ticker.SYSTEM,
            notices,
            background,
            verifying,
            new ReleaseNotifier(waitQueues, names));
    administration = silent((lock, session) -> waitQueues.released(names.admin(lock)));
    counterFactory = new CounterFactory(names, clock);
    Fence fence = new Fence(names, counterFactory);
    fencedLeaseFactory = fenced(leases, fence);
    parts = silent(new ReleaseNotifier(waitQueues, names));
    fencedPartFactory = fenced(parts, fence);
    turns = silent(ReleaseListener.NONE);
    List<LeaseRegistry> registries = List.of(leases, administration, parts, turns);
    Connector connector =
        new Connector(
            settings.factory,
            settings.addresses(),
            settings.connectionName,
            settings.heartbeat,
            callTimeout,
            threads);
    PeriodicVerification verification =
        new PeriodicVerification(scheduler, settings.verifyEvery(), registries);
    Sessions.SessionListener pulse =
        both(pulse(settings, registries), new IdleConnections(scheduler, background));
    SelfCheck selfCheck = new SelfCheck(probe, names, callTimeout, Ticker.SYSTEM, background);
    sessions =
        sessions(
            connector,
            "holder",
            threads,
            both(pulse, new SessionSetup(notices, verification, selfCheck)));
    quorumSessions =
        sessions(connector, "quorum holder", threads, both(pulse, verification::begin));
    leaseSessions = new LeaseSessions(both(pulse, verification::begin));
    tokens = new TokenQueueLocator(names, new TokenRecords(names, clock), this::upgradeTokens);
    firstAcquires = new FirstAcquires(background, this::makeFencedMutex);
    withdrawals = new TokenWithdrawals(threads);
    Executor results = threads.results();
    users =
        new Context(
            sessions, waitQueues, notices, callTimeout, Ticker.SYSTEM, waitingWork, results, timer);
    administrators =
        new Context(
            sessions, waitQueues, silence, callTimeout, Ticker.SYSTEM, waitingWork, results, timer);
  }

  /** A registry of leases of which no user hears. */
  private LeaseRegistry silent(ReleaseListener releaseListener) {
    return new LeaseRegistry(
        callTimeout, Ticker.SYSTEM, silence, background, verifying, releaseListener);
  }

  /** Leases that carry a token of that source. */
  private static LeaseFactory fenced(LeaseFactory leases, FencingTokenSource fence) {
    return (call, session, contest) ->
        leases.take(call, session, FencedHold.contest(contest, fence));
  }

  private Sessions.SessionListener pulse(
      AmqpLocksBuilder settings, List<LeaseRegistry> registries) {
    Duration certainFor = settings.certainFor;
    if (certainFor == null) {
      return session -> {};
    }
    return new KeepAlive(scheduler, beating, certainFor, callTimeout, registries)::begin;
  }

  private static Sessions.SessionListener both(
      Sessions.SessionListener first, Sessions.SessionListener second) {
    return session -> {
      first.opened(session);
      second.opened(session);
    };
  }

  private Sessions sessions(
      Connector connector, String role, Threads threads, Sessions.SessionListener listener) {
    return new Sessions(connector, role, background, threads, callTimeout, Ticker.SYSTEM, listener);
  }

  /** Leases of that factory for locks that are held by an exclusive queue. */
  LeaseFactory exclusive(LeaseFactory leaseFactory) {
    return new ExclusiveLeases(leaseFactory, leaseSessions);
  }

  /** Leaves the call time to hear that somebody else was at work for too long. */
  private void makeFencedMutex(Call call) {
    Duration left = Duration.ofNanos(call.half().remainingNanos());
    try {
      new AdminFactory(this).tokens(call.lock(), left).make(1, TokenQueueType.QUORUM);
    } catch (LockException.AcquireTimeout e) {
      throw new LockException.FenceUnavailable(
          "The %s has been made or changed for more than %d ms, by another process or by this one in the background; try again later"
              .formatted(call.lock(), left.toMillis()));
    }
  }

  /**
   * Upgrades tokens on the first acquire after an upgrade of the broker, if nobody holds one then.
   * That takes hundreds of steps, so a thread of the library does it, and goes on when the call
   * waits no longer. After a close nobody does it, and the call waits in vain.
   */
  boolean upgradeTokens(Call call) {
    Call waiting = call.half();
    Duration turn = Duration.ofNanos(waiting.remainingNanos());
    CompletableFuture<Boolean> upgrade =
        CompletableFuture.supplyAsync(
            () -> new AdminFactory(this).tokens(call.lock(), turn).upgrade(turn), background);
    var unused =
        upgrade.exceptionally(
            failure -> {
              log.warn("The tokens of {} could not be moved", call.lock(), failure);
              return false;
            });
    try {
      return Futures.await(upgrade, waiting.remainingNanos());
    } catch (TimeoutException | ExecutionException e) {
      // The move has received the tokens. Others see them as in use until the old queue is deleted.
      return false;
    }
  }

  void connect() {
    Session unused = sessions.current(Call.onAll(callTimeout, Ticker.SYSTEM));
    if (quorumSessions.everOpened()) {
      unused = quorumSessions.current(Call.onAll(callTimeout, Ticker.SYSTEM));
    }
  }

  Optional<LockException> outage() {
    return sessions.failure(Call.onAll(callTimeout, Ticker.SYSTEM));
  }

  Slots slots(LockId id) {
    return new Slots(id.name(), names, probe, slotCounts);
  }

  void close(Duration timeout) {
    sessions.refuse();
    withdrawals.close();
    quorumSessions.refuse();
    waitQueues.close();
    awaitReleases(timeout);
    scheduler.shutdown();
    verifying.shutdown();
    beating.shutdown();
    leases.releaseAll();
    parts.releaseAll();
    turns.releaseAll();
    administration.releaseAll();
    quorumSessions.close();
    sessions.close();
    waitingWork.shutdown();
    timer.shutdownNow();
    background.shutdown();
    notices.close();
    silence.close();
  }

  /** Waits until the leases are released. A lease that is lost meanwhile is not waited for. */
  private void awaitReleases(Duration timeout) {
    Call bound = Call.onAll(timeout, Ticker.SYSTEM);
    while (leases.holdsAny()
        && bound.remainingNanos() > 0
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
    List<LeaseSnapshot> held = leases.views();
    if (!held.isEmpty() && !timeout.isZero()) {
      log.warn(
          "The shutdown waited {} for holders, and releases the leases that are left now: of {}",
          timeout,
          held.stream().map(LeaseSnapshot::lock).distinct().limit(MOST_NAMED).toList());
    }
  }
}
