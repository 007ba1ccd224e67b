package io.amqplocks;

import io.amqplocks.internal.admin.TokenWithdrawals;
import io.amqplocks.internal.fencing.CounterMaking;
import io.amqplocks.internal.fencing.Fence;
import io.amqplocks.internal.fencing.FencedLeases;
import io.amqplocks.internal.lease.LeaseBook;
import io.amqplocks.internal.lease.Notices;
import io.amqplocks.internal.lease.Pulse;
import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.lease.Verification;
import io.amqplocks.internal.probe.ExistenceProbe;
import io.amqplocks.internal.probe.SelfCheck;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Connector;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.internal.slots.SlotCounts;
import io.amqplocks.internal.slots.Slots;
import io.amqplocks.internal.tokens.TokenDirectory;
import io.amqplocks.internal.tokens.TokenRecords;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.internal.waiting.Announcements;
import io.amqplocks.internal.waiting.QueuedLock.Context;
import io.amqplocks.internal.waiting.WaitingLines;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.TokenQueueType;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.LockSupport;

/** What one {@link AmqpLocks} consists of, put together once and taken apart in the right order. */
final class Parts {

  /** Between two looks at what is still held while closing. */
  private static final Duration LOOK_AGAIN = Duration.ofMillis(10);

  final QueueNames names;
  final Duration callTimeout;
  final WaitingLines lines;
  final StatusRecorder recorder = new StatusRecorder();
  final LeaseBook leases;
  final LeaseBook administration;
  final Taking fencedLeases;
  final CounterMaking counterMaking;
  final Sessions sessions;
  final Sessions quorumSessions;
  final TokenDirectory tokens;
  final TokenWithdrawals withdrawals;
  final Context users;
  final Context administrators;
  private final ExistenceProbe probe;
  private final SlotCounts slotCounts = new SlotCounts();
  private final ThreadPoolExecutor background;
  private final ThreadPoolExecutor verifying;
  private final ScheduledExecutorService scheduler;
  private final ScheduledExecutorService timer;
  private final ThreadPoolExecutor waitingWork;
  private final Notices notices;
  private final Notices silence;

  Parts(AmqpLocksBuilder settings) {
    names = settings.names;
    callTimeout = settings.callTimeout();
    probe = ExistenceProbe.of(settings.probing);
    Threads threads = new Threads(settings.connectionName);
    timer = threads.timer();
    background = threads.background(timer);
    verifying = threads.verifying(timer);
    scheduler = threads.scheduler();
    lines = new WaitingLines(Ticker.SYSTEM::nanos, timer);
    waitingWork = threads.waitingWork(timer);
    notices = new Notices(settings.listeners, recorder, settings.observers, threads);
    silence = new Notices(List.of(), LockListener.NO_OP, threads);
    leases =
        new LeaseBook(
            callTimeout,
            Ticker.SYSTEM,
            notices,
            background,
            verifying,
            new Announcements(lines, names));
    administration =
        new LeaseBook(
            callTimeout,
            Ticker.SYSTEM,
            silence,
            background,
            verifying,
            (lock, session) -> lines.released(names.admin(lock)));
    counterMaking = new CounterMaking(names, Clock.systemUTC());
    fencedLeases = new FencedLeases(leases, new Fence(names, counterMaking));
    Connector connector =
        new Connector(
            settings.factory,
            settings.addresses(),
            settings.connectionName,
            settings.heartbeat,
            callTimeout,
            threads);
    Verification verification =
        new Verification(scheduler, settings.verifyEvery(), List.of(leases, administration));
    Sessions.SessionListener pulse = pulse(settings);
    SelfCheck selfCheck = new SelfCheck(probe, names, callTimeout, Ticker.SYSTEM, background);
    sessions =
        sessions(
            connector,
            "holder",
            threads,
            both(pulse, new SessionNotices(notices, verification, selfCheck)));
    quorumSessions =
        sessions(connector, "quorum holder", threads, both(pulse, verification::begin));
    tokens =
        new TokenDirectory(names, new TokenRecords(names, Clock.systemUTC()), this::upgradeTokens);
    withdrawals = new TokenWithdrawals(threads);
    Executor results = threads.results();
    users =
        new Context(
            sessions, lines, notices, callTimeout, Ticker.SYSTEM, waitingWork, results, timer);
    administrators =
        new Context(
            sessions, lines, silence, callTimeout, Ticker.SYSTEM, waitingWork, results, timer);
  }

  private Sessions.SessionListener pulse(AmqpLocksBuilder settings) {
    Duration certainFor = settings.certainFor;
    if (certainFor == null) {
      return session -> {};
    }
    return new Pulse(scheduler, verifying, certainFor, callTimeout, List.of(leases, administration))
        ::begin;
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

  /** The first acquire ever of a fenced mutex makes it. */
  void makeFencedMutex(Call call, Session session) {
    Duration left = Duration.ofNanos(call.remainingNanos());
    try {
      int unused =
          new Administrators(this)
              .tokens(call.lock(), left)
              .createIfAbsent(1, TokenQueueType.QUORUM);
    } catch (LockException.AcquireTimeout e) {
      throw new LockException.FenceUnavailable(
          "Another process has been making the %s, or changing it, for more than %d ms; try again later"
              .formatted(call.lock(), left.toMillis()));
    }
  }

  /** The first acquire after an upgrade of the broker, if nobody holds a token just then. */
  boolean upgradeTokens(Call call) {
    Duration left = Duration.ofNanos(call.half().remainingNanos());
    return new Administrators(this).tokens(call.lock(), left).upgrade(left);
  }

  Slots slots(LockId id) {
    return new Slots(id.name(), names, probe, slotCounts);
  }

  void close(Duration patience) {
    sessions.refuse();
    withdrawals.close();
    quorumSessions.refuse();
    lines.close();
    awaitReleases(patience);
    scheduler.shutdown();
    verifying.shutdown();
    leases.releaseAll();
    administration.releaseAll();
    quorumSessions.close();
    sessions.close();
    waitingWork.shutdown();
    timer.shutdownNow();
    background.shutdown();
    notices.close();
    silence.close();
  }

  /** Leases that are lost meanwhile are not waited for. */
  private void awaitReleases(Duration patience) {
    long begin = System.nanoTime();
    while (leases.holdsAny()
        && System.nanoTime() - begin < patience.toNanos()
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
  }
}
