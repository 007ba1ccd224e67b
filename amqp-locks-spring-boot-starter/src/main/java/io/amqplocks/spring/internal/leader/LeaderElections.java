package io.amqplocks.spring.internal.leader;

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
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
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
 * <p>Concurrency: the map is filled and extended under the guard. Elections themselves are for many
 * threads. Watchers are called without the guard, and containers are settled without it.
 */
public final class LeaderElections
    implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

  private static final Logger log = LoggerFactory.getLogger(LeaderElections.class);

  private static final Executor CLOSING =
      closing -> new Thread(closing, "amqp-locks leader closing").start();

  private final ApplicationContext context;
  private final LeaderOnlyMethods methods;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, List<LeaderElection>> byName = new LinkedHashMap<>();
  private final List<AutoCloseable> closeables = new ArrayList<>();
  private final List<ElectedContainer> containers = new ArrayList<>();
  private final List<Consumer<LockId>> watchers = new ArrayList<>();
  private volatile boolean filled;
  private volatile boolean running;
  private volatile boolean closing;

  /** Starts and closes the elections of that context. */
  public LeaderElections(LeaderOnlyMethods methods, ApplicationContext context) {
    this.methods = methods;
    this.context = context;
  }

  private <T> ObjectProvider<T> beans(Class<T> type) {
    return context.getBeanProvider(type);
  }

  /** All elections that are known. To be called when all beans are there. */
  List<LeaderElection> all() {
    fill();
    guard.lock();
    try {
      return byName.values().stream().flatMap(List::stream).toList();
    } finally {
      guard.unlock();
    }
  }

  /**
   * Calls back for each lock that an election is on, and for each as it becomes so. To be called
   * when all beans are there.
   */
  public void watch(Consumer<LockId> watcher) {
    fill();
    List<LockId> now;
    guard.lock();
    try {
      watchers.add(watcher);
      now = elections().map(LeaderElection::lock).distinct().toList();
    } finally {
      guard.unlock();
    }
    now.forEach(watcher);
  }

  /** Whether this process certainly leads, by any election on that lock. */
  public boolean leads(LockId lock) {
    return known().stream()
        .anyMatch(election -> election.lock().equals(lock) && election.isLeader());
  }

  /** All elections that are known by now; none before the application has started. */
  public List<LeaderElection> known() {
    return filled ? all() : List.of();
  }

  private void fill() {
    if (filled) {
      return;
    }
    // Not under the guard: to ask for beans may create them.
    List<LeaderElection> elections = beans(LeaderElection.class).orderedStream().toList();
    List<SoleConsumer> consumers = beans(SoleConsumer.class).orderedStream().toList();
    guard.lock();
    try {
      if (filled) {
        return;
      }
      byName.clear();
      closeables.clear();
      containers.clear();
      elections.forEach(election -> add(election, election));
      consumers.forEach(consumer -> add(consumer.election(), consumer));
      methods.names().forEach(this::named);
      methods.listeners().forEach(this::addContainer);
      containers.forEach(ElectedContainer::attach);
      elections().forEach(election -> election.addListener(new Publisher()));
      methods.begin();
      filled = true;
    } finally {
      guard.unlock();
    }
  }

  private Stream<LeaderElection> elections() {
    return byName.values().stream().flatMap(List::stream);
  }

  private void add(LeaderElection election, AutoCloseable closeable) {
    byName
        .computeIfAbsent(election.lock().name().value(), name -> new CopyOnWriteArrayList<>())
        .add(election);
    closeables.add(closeable);
  }

  /** The election by that name, which is made and started if there is none. */
  private LeaderElection named(String name) {
    List<Consumer<LockId>> tell = List.of();
    LeaderElection election;
    guard.lock();
    try {
      if (!byName.containsKey(name)) {
        LeaderElection made =
            LeaderElection.on(beans(AmqpLocks.class).getObject().mutex(name)).build();
        add(made, made);
        if (filled) {
          made.addListener(new Publisher());
        }
        if (running && !closing) {
          made.start();
        }
        tell = List.copyOf(watchers);
      }
      List<LeaderElection> elections = Objects.requireNonNull(byName.get(name));
      if (elections.size() > 1) {
        throw new LockConfigurationException(
            "Several elections have a lock with the name '%s', so it is open which of them @LeaderOnly(\"%s\") means"
                .formatted(name, name),
            "Give their locks different names, or leave one of the LeaderElection beans.");
      }
      election = elections.get(0);
    } finally {
      guard.unlock();
    }
    tell.forEach(watcher -> watcher.accept(election.lock()));
    return election;
  }

  private void addContainer(String id, String name) {
    // Of any type: the interface that the registry returns is another one in Spring AMQP 4.1, and a
    // method reference would name it, so that it could not be linked on 4.0.
    Collection<?> registered =
        beans(RabbitListenerEndpointRegistry.class).getObject().getListenerContainers();
    Lifecycle container =
        registered.stream()
            .filter(AbstractMessageListenerContainer.class::isInstance)
            .map(AbstractMessageListenerContainer.class::cast)
            .filter(each -> id.equals(each.getListenerId()))
            .findFirst()
            .orElseThrow(
                () ->
                    new LockConfigurationException(
                        "There is no container of the @RabbitListener with the id '%s', which is @LeaderOnly(\"%s\")"
                            .formatted(id, name),
                        "Let @EnableRabbit process it, and let the id be its own."));
    containers.add(new ElectedContainer(id, container, named(name), this::isRunning));
  }

  /** Whether this process certainly leads by that name. Nobody leads before the start. */
  boolean leads(String name) {
    return filled && named(name).isLeader();
  }

  @Override
  public void start() {
    fill();
    guard.lock();
    try {
      running = true;
      elections().forEach(LeaderElection::start);
    } finally {
      guard.unlock();
    }
    settleContainers();
  }

  /** Without the guard: to stop one may take seconds. */
  private void settleContainers() {
    List<ElectedContainer> all;
    guard.lock();
    try {
      all = List.copyOf(containers);
    } finally {
      guard.unlock();
    }
    all.forEach(ElectedContainer::settle);
  }

  /** An event multicaster with an executor would call it when all is stopped already. */
  @Override
  public boolean supportsAsyncExecution() {
    return false;
  }

  /**
   * Before anything is stopped: then the containers of listeners still wait for their handlers, and
   * the locks are released after that.
   */
  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    if (event.getApplicationContext().equals(context)) {
      closing = true;
      close();
    }
  }

  private void close() {
    List<AutoCloseable> all;
    guard.lock();
    try {
      all = List.copyOf(closeables);
    } finally {
      guard.unlock();
    }
    // All at once, since each may take its grace period.
    CompletableFuture.allOf(
            all.stream()
                .map(each -> CompletableFuture.runAsync(() -> close(each), CLOSING))
                .toArray(CompletableFuture<?>[]::new))
        .join();
  }

  private static void close(AutoCloseable election) {
    try {
      election.close();
    } catch (Exception e) {
      log.warn("An election could not be closed; its lock is released with all others", e);
    }
  }

  @Override
  public void stop() {
    running = false;
    // Spring has stopped them before, but a grant may have come since.
    settleContainers();
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
