package io.amqplocks.spring.internal.lifecycle;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LeadershipRevokedEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * Starts the elections that are beans when all else has started, and closes them before all else
 * stops: other processes take over while this one finishes its requests. Publishes their events.
 *
 * <p>A context that is only stopped or paused may be started again, which a closed election cannot;
 * so they are closed only when the context is.
 */
public final class LeaderElections
    implements SmartLifecycle, SmartInitializingSingleton, ApplicationListener<ContextClosedEvent> {

  private static final Executor CLOSING =
      closing -> new Thread(closing, "amqp-locks leader closing").start();

  private final ObjectProvider<LeaderElection> beans;
  private final ApplicationContext context;
  private final List<LeaderElection> elections = new ArrayList<>();
  private volatile boolean running;
  private volatile boolean closing;

  /** Starts and closes those elections with that context. */
  public LeaderElections(ObjectProvider<LeaderElection> beans, ApplicationContext context) {
    this.beans = beans;
    this.context = context;
  }

  @Override
  public void afterSingletonsInstantiated() {
    LeaderListener publisher = new Publisher();
    beans
        .orderedStream()
        .forEach(
            election -> {
              election.addListener(publisher);
              elections.add(election);
            });
  }

  @Override
  public void start() {
    elections.forEach(LeaderElection::start);
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
              elections.stream()
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
