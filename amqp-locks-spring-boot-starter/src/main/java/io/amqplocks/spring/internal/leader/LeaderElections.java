package io.amqplocks.spring.internal.leader;

import static java.util.Comparator.comparing;

import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LeadershipRevokedEvent;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.lifecycle.LocksLifecycle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.listener.ListenerContainerConsumerFailedEvent;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * The elections of an application: those that are beans, those of sole consumers that are beans,
 * and one for each name of {@code @LeaderOnly} that has none of these. Starts them when all else
 * has started, and closes them before anything else stops: other processes take over while this one
 * finishes its requests. Publishes their events, after containers were told.
 *
 * <p>A context that is only stopped or paused may be started again, which a closed election cannot.
 * So they are closed only when the context is. Until then they contend, but no container is started
 * in a stopped context. Spring starts all containers when a context is started again, so each is
 * settled after that: it runs if its process leads.
 *
 * <p>A context below another one has elections of its own, which end with it. By a name that it has
 * no election of, it asks the elections above. Those above watch and report what is below too.
 *
 * <p>Concurrency: the map is filled and extended under the guard. Elections themselves are for many
 * threads. Watchers are called without the guard, and containers are settled without it. Under its
 * guard a context may take that of the one above, and none takes that of one below.
 */
// More than 300 lines: contexts below and above ask each other for one map of elections.
public final class LeaderElections
    implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DisposableBean {

  private static final Logger log = LoggerFactory.getLogger(LeaderElections.class);

  private static final Executor CLOSING =
      closing -> new Thread(closing, "amqp-locks leader closing").start();

  private final ApplicationContext context;
  private final LeaderOnlyMethods methods;
  private final @Nullable LeaderElections above;
  private final List<LeaderElections> below = new CopyOnWriteArrayList<>();
  private final ListenerContainers containers;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, List<LeaderElection>> byName = new LinkedHashMap<>();
  private final List<Part> parts = new ArrayList<>();
  private final List<Consumer<LockId>> watchers = new CopyOnWriteArrayList<>();
  private volatile boolean filled;
  private volatile boolean begun;
  private volatile boolean running;
  private volatile boolean closing;

  /** An election, or a sole consumer with its election. */
  private record Part(LeaderElection election, @Nullable SoleConsumer consumer) {

    boolean mayConnect() {
      return consumer != null;
    }

    /** One of a consumer may open a connection, to see whether the broker has what it needs. */
    void start() {
      if (consumer == null) {
        election.start();
      } else {
        consumer.start();
      }
    }

    /** Returns at once on a thread of its own, and else when the lock is released. */
    void close() {
      try {
        if (consumer == null) {
          election.close();
        } else {
          consumer.close();
        }
      } catch (RuntimeException | Error e) {
        log.warn("An election could not be closed; its lock is released with all others", e);
      }
    }

    boolean isOwnThread(Thread thread) {
      return consumer == null ? election.isOwnThread(thread) : consumer.isOwnThread(thread);
    }
  }

  /**
   * Starts and closes the elections of that context.
   *
   * @param above those of the context above it; null if nobody there looks after elections
   * @param catalog is told of their locks, so that meters have the names of these
   */
  public LeaderElections(
      LeaderOnlyMethods methods,
      ApplicationContext context,
      @Nullable LeaderElections above,
      LockCatalog catalog) {
    this.methods = methods;
    this.context = context;
    this.above = above;
    watchers.add(catalog::addElected);
    containers =
        new ListenerContainers(() -> beans(RabbitListenerEndpointRegistry.class), this::isRunning);
  }

  /** Without those that the elections above look after. */
  private <T> List<T> beans(Class<T> type) {
    Stream<T> all = context.getBeanProvider(type).orderedStream();
    if (above == null) {
      return all.toList();
    }
    Collection<T> own = context.getBeansOfType(type).values();
    return all.filter(own::contains).toList();
  }

  /** All elections of this context that are known. To be called when all beans are there. */
  List<LeaderElection> all() {
    fill();
    guard.lock();
    try {
      return elections().toList();
    } finally {
      guard.unlock();
    }
  }

  /**
   * Calls back for each lock that an election is on, and for each as it becomes so. For one that
   * becomes so just now it may call back twice. To be called when all beans are there.
   */
  public void watch(Consumer<LockId> watcher) {
    fill();
    watchers.add(watcher);
    known().stream().map(LeaderElection::lock).distinct().forEach(watcher);
  }

  /** Whether this process certainly leads, by any election on that lock. */
  public boolean leads(LockId lock) {
    return known().stream()
        .anyMatch(election -> election.lock().equals(lock) && election.isLeader());
  }

  /**
   * All elections that are known by now, with those of contexts below. None before the application
   * has started.
   */
  public List<LeaderElection> known() {
    List<LeaderElection> known = new ArrayList<>(filled ? all() : List.of());
    below.forEach(each -> known.addAll(each.known()));
    return known;
  }

  private void fill() {
    if (filled) {
      return;
    }
    // Not under the guard: to ask for beans may create them.
    List<LeaderElection> elections = beans(LeaderElection.class);
    List<SoleConsumer> consumers = beans(SoleConsumer.class);
    guard.lock();
    try {
      if (filled) {
        return;
      }
      byName.clear();
      parts.clear();
      elections.forEach(election -> add(new Part(election, null)));
      consumers.forEach(consumer -> add(new Part(consumer.election(), consumer)));
      methods.names().forEach(this::named);
      filled = true;
    } finally {
      guard.unlock();
    }
    if (above != null) {
      above.below.add(this);
    }
    all().forEach(election -> tell(election.lock()));
  }

  /** When all else has started: gauges may have asked for elections before there are containers. */
  private void begin() {
    methods.names().forEach(this::named); // else made under the guard
    guard.lock();
    try {
      if (!begun) {
        containers.attach(methods.listeners(), this::named);
        elections().forEach(election -> election.addListener(new Publisher()));
        methods.begin();
        begun = true;
      }
    } finally {
      guard.unlock();
    }
  }

  private void tell(LockId lock) {
    watchers.forEach(watcher -> watcher.accept(lock));
    if (above != null) {
      above.tell(lock);
    }
  }

  private Stream<LeaderElection> elections() {
    return byName.values().stream().flatMap(List::stream);
  }

  private void add(Part part) {
    byName
        .computeIfAbsent(part.election.lock().name().value(), name -> new CopyOnWriteArrayList<>())
        .add(part.election);
    parts.add(part);
  }

  private List<Part> parts() {
    guard.lock();
    try {
      return List.copyOf(parts);
    } finally {
      guard.unlock();
    }
  }

  /** The election by that name, which is made and started if there is none. */
  private LeaderElection named(String name) {
    List<LeaderElection> elections;
    boolean isNew;
    guard.lock();
    try {
      elections = find(name);
      isNew = elections.isEmpty();
      if (isNew) {
        LeaderElection made =
            LeaderElection.on(context.getBean(AmqpLocks.class).mutex(name)).build();
        add(new Part(made, null));
        if (begun) {
          made.addListener(new Publisher());
        }
        if (running && !closing) {
          made.start();
        }
        elections = List.of(made);
      }
    } finally {
      guard.unlock();
    }
    if (elections.size() > 1) {
      throw new LockConfigurationException(
          "Several elections have a lock with the name '%s', so it is open which of them @LeaderOnly(\"%s\") means"
              .formatted(name, name),
          "Give their locks different names, or leave one of the LeaderElection beans.");
    }
    LeaderElection election = elections.get(0);
    if (isNew && filled) {
      tell(election.lock());
    }
    return election;
  }

  /** Those of this context by that name, or else those above. */
  private List<LeaderElection> find(String name) {
    guard.lock();
    try {
      List<LeaderElection> own = byName.getOrDefault(name, List.of());
      return own.isEmpty() && above != null ? above.find(name) : own;
    } finally {
      guard.unlock();
    }
  }

  /** Whether this process certainly leads by that name. Nobody leads before the start. */
  boolean leads(String name) {
    return filled && named(name).isLeader();
  }

  @Override
  public void start() {
    fill();
    begin();
    guard.lock();
    try {
      running = true; // one that is made from now on is started there
    } finally {
      guard.unlock();
    }
    // Without the guard, since one of a consumer may take as long as a connection does.
    parts().stream().sorted(comparing(Part::mayConnect)).forEach(Part::start);
    containers.settle();
  }

  /** An event multicaster with an executor would call it when all is stopped already. */
  @Override
  public boolean supportsAsyncExecution() {
    return false;
  }

  /**
   * Closes before anything is stopped: then the containers of listeners still wait for their
   * handlers, and the locks are released after that.
   */
  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    if (event.getApplicationContext().equals(context)) {
      closing = true;
      close();
    }
  }

  /** A container of listeners has failed, and may have stopped itself. */
  public void failed(ListenerContainerConsumerFailedEvent event) {
    containers.failed(event);
  }

  /** A context that could not be started is not closed, and the one above it may go on. */
  @Override
  public void destroy() {
    if (!closing) {
      closing = true;
      close();
    }
    // Only now: until Spring has stopped them, the end of a term stops them too.
    containers.detach();
  }

  /**
   * All at once, since each may take its grace period. On a thread of one of them, which closes the
   * context, that one ends when the thread has returned. Its lock goes with all others.
   */
  private void close() {
    Thread caller = Thread.currentThread();
    List<CompletableFuture<Void>> closings = new ArrayList<>();
    try {
      for (Part each : parts()) {
        if (each.isOwnThread(caller)) {
          each.close();
        } else {
          closings.add(closing(each));
        }
      }
      CompletableFuture.allOf(closings.toArray(CompletableFuture<?>[]::new)).join();
    } finally {
      if (above != null) {
        above.below.remove(this);
      }
    }
  }

  private static CompletableFuture<Void> closing(Part part) {
    try {
      return CompletableFuture.runAsync(part::close, CLOSING);
    } catch (Error e) {
      log.debug("There is no thread to close an election by", e);
      part.close();
      return CompletableFuture.completedFuture(null);
    }
  }

  @Override
  public void stop() {
    running = false;
    if (!closing && LocksLifecycle.isBeingClosed(context)) {
      // Another listener of that event has failed.
      closing = true;
      close();
    }
    // Spring has stopped them before, but a grant may have come since.
    containers.settle();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  private final class Publisher implements LeaderListener {
    @Override
    public void granted(Leadership leadership) {
      context.publishEvent(new LeadershipGrantedEvent(leadership));
    }

    @Override
    public void revoked(Leadership leadership, Revocation revocation) {
      context.publishEvent(new LeadershipRevokedEvent(leadership, revocation));
    }
  }
}
