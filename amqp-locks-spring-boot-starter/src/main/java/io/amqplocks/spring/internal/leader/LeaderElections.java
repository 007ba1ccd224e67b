package io.amqplocks.spring.internal.leader;

import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LeadershipRevokedEvent;
import io.amqplocks.spring.LifecycleLeaderListener;
import io.amqplocks.spring.LockConfigurationException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * The elections of an application: those that are beans, those of sole consumers that are beans, and
 * one for each name of {@code @LeaderOnly} that has none of these. Starts them when all else has
 * started, and closes them before all else stops: other processes take over while this one finishes
 * its requests. Publishes their events.
 *
 * <p>A context that is only stopped or paused may be started again, which a closed election cannot;
 * so they are closed only when the context is.
 *
 * <p>Concurrency: the map is filled and extended under the guard. Elections themselves are for many
 * threads.
 */
public final class LeaderElections
    implements SmartLifecycle, ApplicationListener<ContextClosedEvent> {

  private static final Executor CLOSING =
      closing -> new Thread(closing, "amqp-locks leader closing").start();

  private final ApplicationContext context;
  private final LeaderOnlyMethods methods;
  private final ReentrantLock guard = new ReentrantLock();
  private final Map<String, List<LeaderElection>> byName = new LinkedHashMap<>();
  private boolean filled;
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

  /** All elections that are known. */
  public List<LeaderElection> all() {
    guard.lock();
    try {
      if (!filled) {
        filled = true;
        Stream.concat(
                beans(LeaderElection.class).orderedStream(),
                beans(SoleConsumer.class).orderedStream().map(SoleConsumer::election))
            .forEach(this::add);
        methods.names().forEach(this::named);
        methods.listeners().forEach(this::addContainer);
      }
      return byName.values().stream().flatMap(List::stream).toList();
    } finally {
      guard.unlock();
    }
  }

  private void add(LeaderElection election) {
    election.addListener(new Publisher());
    byName
        .computeIfAbsent(election.lock().name().value(), name -> new CopyOnWriteArrayList<>())
        .add(election);
  }

  /** The election by that name, which is made and started if there is none. */
  private LeaderElection named(String name) {
    guard.lock();
    try {
      if (!byName.containsKey(name)) {
        LeaderElection made =
            LeaderElection.on(beans(AmqpLocks.class).getObject().mutex(name)).build();
        add(made);
        if (running && !closing) {
          made.start();
        }
      }
      List<LeaderElection> elections = Objects.requireNonNull(byName.get(name));
      if (elections.size() > 1) {
        throw new LockConfigurationException(
            "Several elections have a lock with the name '%s', so it is open which of them @LeaderOnly(\"%s\") means"
                .formatted(name, name),
            "Give their locks different names, or leave one of the LeaderElection beans.");
      }
      return elections.get(0);
    } finally {
      guard.unlock();
    }
  }

  private void addContainer(String id, String name) {
    RabbitListenerEndpointRegistry containers =
        beans(RabbitListenerEndpointRegistry.class).getObject();
    // By class, since the interface that the registry returns is another one in Spring AMQP 4.1.
    Lifecycle container =
        containers.getListenerContainers().stream()
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
    named(name).addListener(new LifecycleLeaderListener(() -> container));
  }

  /** Whether this process certainly leads by that name. */
  boolean leads(String name) {
    List<LeaderElection> unused = all();
    return named(name).isLeader();
  }

  @Override
  public void start() {
    all().forEach(LeaderElection::start);
    running = true;
  }

  @Override
  public void onApplicationEvent(ContextClosedEvent event) {
    closing |= event.getApplicationContext().equals(context);
  }

  @Override
  public void stop() {
    running = false;
    if (closing) {
      // All at once, since each may take its grace period.
      CompletableFuture.allOf(
              all().stream()
                  .map(election -> CompletableFuture.runAsync(election::close, CLOSING))
                  .toArray(CompletableFuture<?>[]::new))
          .join();
    }
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
