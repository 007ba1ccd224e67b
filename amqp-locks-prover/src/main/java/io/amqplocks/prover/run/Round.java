package io.amqplocks.prover.run;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.CoreLocks;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.run.Plan.Harm;
import io.amqplocks.prover.run.Plan.Slots;
import io.amqplocks.prover.run.Plan.Work;
import io.amqplocks.test.Broker;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out a {@link Plan} on a broker or a cluster, and writes down what came of it.
 *
 * <p>At the end all faults are over. Then all clients that live must finish their work, and an
 * observer must get all slots of all locks: nothing is lost for good.
 */
// More than 300 lines: the course of a round is told in one place.
final class Round {

  private static final Logger log = LoggerFactory.getLogger(Round.class);

  /** How long a client may take to start and connect, on a machine that is busy. */
  private static final Duration LONG = Duration.ofSeconds(60);

  /** How often an observer begins again that lost what it had. */
  private static final int TRIES = 3;

  private final Plan plan;
  private final Site site;
  private final Broker broker;
  private final List<List<String>> programs;
  private final Path folder;
  private final Duration patience;
  private final String prefix;
  private final QueueHarm queues;
  private final History history = new History();
  private final List<Violation> stuck = new ArrayList<>();

  /**
   * A round.
   *
   * @param programs the command lines of clients; client by client, each has its turn
   * @param folder where clients write their errors
   * @param patience how long what should happen in the end may take
   */
  Round(Plan plan, Site site, List<List<String>> programs, Path folder, Duration patience) {
    this.patience = patience;
    this.plan = plan;
    this.site = site;
    broker = site.home(plan);
    this.programs = programs;
    this.folder = folder;
    prefix = "p" + Long.toString(plan.seed(), 36) + ".";
    queues = new QueueHarm(plan, site, prefix, history);
  }

  History history() {
    return history;
  }

  /** What was stuck at the end. */
  List<Violation> stuck() {
    return stuck;
  }

  /** Carries it out. */
  void run() throws InterruptedException {
    long began = System.nanoTime();
    site.prepare(plan);
    List<ClientProcess> clients = new ArrayList<>();
    Publisher publisher = new Publisher(plan, broker, prefix, history);
    try (AmqpLocks observer = observer();
        GuardedRows rows = GuardedRows.start(plan.locks())) {
      publisher.create();
      if (Plan.consumes(plan.seed())) {
        makeCounters(observer);
      }
      for (int i = 0; i < plan.clients(); i++) {
        clients.add(start(i));
      }
      for (ClientProcess client : clients) {
        TcpProxy proxy = client.proxy();
        String uri = "amqp://guest:guest@%s:%d/%%2f".formatted(proxy.host(), proxy.port());
        int seconds = Math.toIntExact(plan.heartbeat().toSeconds());
        open(client, uri, seconds);
      }
      create(clients.get(0), observer);
      List<Promised> work = begin(clients, rows);
      CompletableFuture<Void> publishing =
          publisher.publish(System.nanoTime() + plan.length().toNanos());
      ResizeStorm storm = ResizeStorm.begin(plan, clients, patience);
      List<CompletableFuture<Void>> harms =
          plan.harms().stream()
              .sorted(Comparator.comparing(Harm::begin))
              .map(harm -> doing(harm, clients))
              .toList();
      // Each is over then, also if one has failed.
      CompletableFuture.allOf(harms.toArray(CompletableFuture<?>[]::new)).join();
      awaitEnd(work);
      rows.tell(history);
      site.heal(plan, history, began);
      stuck.addAll(storm.awaitEnd());
      if (harmsNodes()) {
        endOf(clients, new Operator(broker, prefix, observer));
      }
      stuck.addAll(storm.settle(observer));
      awaitPublished(publishing);
      publisher.drain(observer, patience);
      publisher.delete();
      requireAllFree(observer);
    } finally {
      clients.forEach(ClientProcess::close);
    }
  }

  /** A client creates the locks, or the observer what it cannot. */
  private void create(ClientProcess client, AmqpLocks observer) throws InterruptedException {
    for (Slots each : plan.locks()) {
      if (each.lock().kind().isCreated()) {
        try {
          client.carryOut(Command.create(client.newId(), each.lock(), each.count()), LONG);
        } catch (IllegalStateException e) {
          log.debug("The observer creates {}: {}", each.lock(), e.getMessage());
          var unused = patiently(LONG, () -> createBy(observer, each));
        }
      }
    }
  }

  private static boolean createBy(AmqpLocks observer, Slots each) {
    CoreLocks.create(observer, each.lock(), each.count());
    return true;
  }

  /** A round of a few seconds would be over before a machine that is busy has made all counters. */
  private void makeCounters(AmqpLocks observer) throws InterruptedException {
    for (Work work : plan.work()) {
      boolean counts = work.lock().kind().isFenced();
      if (work.load().fenced() || counts) {
        AmqpLock plain = observer.lock(CoreLocks.id(work.lock()));
        AmqpLock lock = counts ? plain : plain.fenced();
        patiently(LONG, () -> lock.acquire(LONG)).close();
      }
    }
  }

  /** Not within a call timeout, on a machine that is busy. */
  private void open(ClientProcess client, String uri, int heartbeat) throws InterruptedException {
    for (int left = 5; ; left--) {
      try {
        client.carryOut(Command.open(client.newId(), uri, prefix, heartbeat), LONG);
        return;
      } catch (IllegalStateException notYet) {
        if (left == 0 || !client.isAlive()) {
          throw notYet;
        }
      }
    }
  }

  private void awaitPublished(CompletableFuture<Void> publishing) throws InterruptedException {
    try {
      publishing.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      throw new IllegalStateException("The publisher did not end", e);
    }
  }

  private record Promised(ClientProcess client, LockRef lock, CompletableFuture<Event> end) {}

  private AmqpLocks observer() {
    return AmqpLocks.builder(broker.connectionFactory())
        .queuePrefix(prefix)
        .connectionName("prover-observer")
        .build();
  }

  private ClientProcess start(int number) {
    String name = name(number);
    return new ClientProcess(
        name,
        programs.get(number % programs.size()),
        TcpProxy.to(site.of(number)),
        history,
        folder.resolve(name + ".err"));
  }

  static String name(int number) {
    return "client-" + (number + 1);
  }

  /** How many times the clients of each program got a lock, in the order of the programs. */
  List<Integer> acquired() {
    List<Integer> result = new ArrayList<>(Collections.nCopies(programs.size(), 0));
    for (Claim claim : history.claims()) {
      for (int i = 0; i < plan.clients(); i++) {
        if (claim.client().equals(name(i))) {
          result.set(i % programs.size(), result.get(i % programs.size()) + 1);
        }
      }
    }
    return result;
  }

  private List<Promised> begin(List<ClientProcess> clients, GuardedRows rows) {
    long until = System.nanoTime() + plan.length().toNanos();
    List<Promised> result = new ArrayList<>();
    for (Work work : plan.work()) {
      ClientProcess client = clients.get(work.client());
      Command command = Command.work(client.newId(), work.lock(), work.load(), until);
      command = writesToRow(work) ? command.writingTo(rows.url()) : command;
      result.add(new Promised(client, work.lock(), client.send(command)));
    }
    return result;
  }

  /**
   * A row without tokens is only guarded by the lock itself. So its holder must be the only one,
   * and nothing may happen after which a holder can be wrong. Readers write nothing.
   */
  private boolean writesToRow(Work work) {
    boolean isFenced = work.load().fenced() || work.lock().kind().isFenced();
    boolean isAlone =
        plan.locks().contains(new Slots(work.lock(), 1)) && !plan.isResized(work.lock());
    return !work.lock().kind().consumes()
        && !work.load().reads()
        && (isFenced || (isAlone && plan.harms().isEmpty()));
  }

  private CompletableFuture<Void> doing(Harm harm, List<ClientProcess> clients) {
    return CompletableFuture.runAsync(
        () -> {
          pause(harm.begin());
          ClientProcess client = clients.get(harm.client());
          // One after the other: who is stopped cannot be killed as well, nor a broker twice.
          synchronized (isOfBroker(harm) ? site : client) {
            doIt(harm, client);
          }
        },
        task -> new Thread(task, "harm").start());
  }

  private static boolean isOfBroker(Harm harm) {
    return !FaultKind.ofClients().contains(harm.what());
  }

  private void doIt(Harm harm, ClientProcess client) {
    TcpProxy proxy = client.proxy();
    switch (harm.what()) {
      case KILL -> {
        if (client.isAlive()) {
          client.kill();
        }
      }
      case STOP -> {
        if (client.isAlive()) {
          lasting(harm, client, client::stop, client::cont);
        }
      }
      case CUT -> lasting(harm, client, proxy::cut, () -> {});
      case RESET -> lasting(harm, client, proxy::reset, () -> {});
      case HALF_CUT -> lasting(harm, client, proxy::resetServerSide, () -> {});
      case DEAF ->
          lasting(
              harm, client, () -> proxy.blackHole(Direction.BROKER_TO_CLIENT), () -> heal(proxy));
      case MUTE ->
          lasting(
              harm, client, () -> proxy.blackHole(Direction.CLIENT_TO_BROKER), () -> heal(proxy));
      case PARTITION ->
          lasting(harm, client, () -> proxy.blackHole(Direction.BOTH), () -> heal(proxy));
      case DELAY ->
          lasting(
              harm,
              client,
              () -> proxy.delay(Direction.BOTH, Duration.ofMillis(150)),
              () -> proxy.delay(Direction.BOTH, Duration.ZERO));
      case LATE ->
          lasting(
              harm,
              client,
              () -> proxy.delay(Direction.BROKER_TO_CLIENT, Plan.LATENESS),
              () -> proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ZERO));
      case BROKER_KILL -> {
        // It would forget the content of a quorum queue that it has only just made (trap 21), and
        // no lock can help that.
        broker.faults().writeMembers();
        toBroker(harm, broker.faults()::kill, this::startBroker);
      }
      case BROKER_STOP -> toBroker(harm, broker.faults()::freeze, broker.faults()::thaw);
      case CLOSE,
          ALARM,
          POLICY,
          QUEUE_CRASH,
          QUEUE_DELETE,
          GATE_CRASH,
          GATE_DELETE,
          CONSUMED_CRASH,
          LINK_DROP,
          STRANGER,
          READER ->
          toQueues(harm);
      case NODE_FLAP, NODE_SILENCE, NODE_KILL, NODE_STOP -> site.harmNode(harm, history);
    }
  }

  /** A broker that is busy may not answer, and have done it all the same. So it counts. */
  private void toQueues(Harm harm) {
    long from = System.nanoTime();
    try {
      queues.carryOut(harm);
    } catch (IllegalStateException e) {
      log.warn("{} may not have been done", harm, e);
      history.suffered(new FaultSpan(harm.what().label(), from, System.nanoTime()));
    }
  }

  /** What was swallowed makes no sense of the rest of a stream. */
  private static void heal(TcpProxy proxy) {
    proxy.heal();
    proxy.reset();
  }

  private void lasting(Harm harm, ClientProcess client, Runnable begin, Runnable end) {
    during(harm, begin, end, span -> history.suffered(client.name(), span));
  }

  /** A queue that was just being made when the broker died may have no leader (trap 21). */
  private void startBroker() {
    broker.faults().start();
    for (String queue : broker.faults().electLeaders()) {
      log.warn("Queue {} had no leader after the broker's start, and was made to elect one", queue);
    }
  }

  private void toBroker(Harm harm, Runnable begin, Runnable end) {
    during(harm, begin, end, history::suffered);
  }

  /**
   * Begins it, and ends it when its time is over.
   *
   * @param told is told of it, also if a step of it failed: half of it may have happened
   */
  static void during(Harm harm, Runnable begin, Runnable end, Consumer<FaultSpan> told) {
    long from = System.nanoTime();
    long full = 0;
    long to = 0;
    try {
      begin.run();
      full = System.nanoTime();
      try {
        pause(harm.length());
      } finally {
        // What its end does to connections is to be seen after that.
        to = System.nanoTime();
        end.run();
      }
    } finally {
      long over = System.nanoTime();
      FaultSpan span = new FaultSpan(harm.what().label(), from, full, to == 0 ? over : to, null);
      told.accept(span.overAt(over));
    }
  }

  static void pause(Duration time) {
    try {
      TimeUnit.NANOSECONDS.sleep(time.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted", e);
    }
  }

  private void awaitEnd(List<Promised> work) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    for (Promised each : work) {
      String client = each.client().name();
      try {
        Event last = each.end().get(Math.max(1, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        if (last.what() == Event.What.NOT_DONE) {
          stuck.add(stuck(each.lock(), client + " failed: " + last.detail()));
        }
      } catch (TimeoutException e) {
        stuck.add(stuck(each.lock(), client + " waits for it, or for its own release, still"));
      } catch (ExecutionException e) {
        if (!each.client().wasKilled()) {
          stuck.add(stuck(each.lock(), client + " ended by itself: " + e.getCause()));
        }
      }
    }
  }

  private boolean harmsNodes() {
    return site.isCluster() && ClusterPlan.harmsNodes(plan);
  }

  /**
   * Ends clients that have finished, and the turns of administrators. After a node was parted from
   * others, what is left of a queue may stay as long as its connection (trap 27), and a queue may
   * be registered for one that has ended.
   */
  private void endOf(List<ClientProcess> clients, Operator operator) {
    clients.forEach(ClientProcess::close);
    clients.clear();
    plan.locks().stream()
        .map(Slots::lock)
        .filter(lock -> lock.kind() == LockRef.Kind.SLOT_SEMAPHORE && plan.isResized(lock))
        .forEach(operator::endTurn);
  }

  private void requireAllFree(AmqpLocks observer) throws InterruptedException {
    Operator operator = new Operator(broker, prefix, observer);
    for (Slots each : plan.locks()) {
      if (harmsNodes()) {
        freeIfStuck(observer, operator, each);
      }
      requireFree(observer.lock(CoreLocks.id(each.lock())), each);
      if (each.lock().kind() == LockRef.Kind.READ_WRITE_LOCK) {
        requireReadersShare(observer, each.lock());
      }
      destroy(observer, each.lock());
    }
  }

  /** The observer's own leases may be lost meanwhile, as others are. Then it begins again. */
  private void requireFree(AmqpLock lock, Slots slots) throws InterruptedException {
    boolean again = true;
    for (int tries = 0; again && tries < TRIES; tries++) {
      List<Lease> leases = new ArrayList<>();
      try {
        for (int i = 0; i < slots.count(); i++) {
          leases.add(patiently(patience, () -> lock.acquire(patience)));
        }
        Optional<Lease> surplus = patiently(patience, lock::tryAcquire);
        again = leases.stream().anyMatch(lease -> lease.verify() == LeaseState.LOST);
        surplus.ifPresent(leases::add);
        if (surplus.isPresent() && !again) {
          stuck.add(
              new Violation(
                  Promise.CAPACITY,
                  slots.lock(),
                  System.nanoTime(),
                  List.of(),
                  "An observer got more than the %d slots of %s"
                      .formatted(slots.count(), slots.lock())));
        }
      } catch (LockException e) {
        stuck.add(
            stuck(
                slots.lock(),
                "an observer got %d of %d slots: %s".formatted(leases.size(), slots.count(), e)));
        again = false;
      } finally {
        leases.forEach(Lease::close);
      }
    }
    if (again) {
      stuck.add(stuck(slots.lock(), "an observer lost what it had %d times".formatted(TRIES)));
    }
  }

  private static void freeIfStuck(AmqpLocks observer, Operator operator, Slots slots)
      throws InterruptedException {
    Duration most = operator.patience(slots.lock()).orElse(null);
    List<Lease> leases = new ArrayList<>();
    try {
      AmqpLock lock = observer.lock(CoreLocks.id(slots.lock()));
      for (int i = 0; most != null && i < slots.count(); i++) {
        leases.add(patiently(most, () -> lock.acquire(most)));
      }
    } catch (LockException e) {
      operator.free(slots, e);
    } finally {
      leases.forEach(Lease::close);
    }
  }

  /** Whoever got the write lock knows that there are no holders, and not that readers may come. */
  private void requireReadersShare(AmqpLocks observer, LockRef lock) throws InterruptedException {
    AmqpLock readers = observer.lock(CoreLocks.id(lock, true));
    try (Lease first = patiently(patience, () -> readers.acquire(patience));
        Lease second = patiently(patience, () -> readers.acquire(patience))) {
      log.debug("An observer has {} and {}", first, second);
    } catch (LockException e) {
      stuck.add(stuck(lock, "an observer could not read it twice at once: " + e));
    }
  }

  /** A call of an observer. */
  @FunctionalInterface
  interface Observing<T> {
    T call() throws InterruptedException;
  }

  /**
   * Repeats a call that ends as an outage does, that did not find a record, or that waited in vain
   * for less time than that, as for another administrator or for a fence that is being made: a busy
   * broker puts back late what a killed client had in hand. What is lost for good is still lost at
   * the end.
   */
  static <T> T patiently(Duration patience, Observing<T> call) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        return call.call();
      } catch (LockException e) {
        boolean maybePasses =
            e.isOutage()
                || e instanceof LockException.Unexpected
                || e instanceof LockException.AcquireTimeout
                || e instanceof LockException.Unanswered
                || e instanceof LockException.FenceUnavailable;
        if (!maybePasses || System.nanoTime() > end) {
          throw e;
        }
        pause(Duration.ofMillis(500));
      }
    }
  }

  /** A long run must not fill the broker. */
  private static void destroy(AmqpLocks observer, LockRef lock) {
    try {
      if (lock.kind() == LockRef.Kind.PERSISTENT_MUTEX) {
        observer.admin().persistentMutex(lock.name()).disable();
      } else if (lock.kind().isSemaphore() || lock.kind().isFenced()) {
        observer.admin().semaphore(CoreLocks.id(lock)).destroy();
      }
    } catch (LockException e) {
      log.warn("The {} stays at the broker: {}", lock, e.getMessage());
    }
  }

  private static Violation stuck(LockRef lock, String text) {
    return new Violation(Promise.LIVENESS, lock, System.nanoTime(), List.of(), lock + ": " + text);
  }
}
