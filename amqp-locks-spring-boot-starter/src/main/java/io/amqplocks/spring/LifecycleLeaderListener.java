package io.amqplocks.spring;

import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import java.util.function.Supplier;
import org.springframework.context.Lifecycle;

/**
 * Runs something with a lifecycle, such as a listener container, a poller or an endpoint, only
 * while this process leads. It is started when leadership is granted, and stopped when it is
 * revoked. The next leader begins when {@code stop()} has returned, or after the election's
 * {@linkplain io.amqplocks.leader.LeaderElectionBuilder#grace grace period}.
 *
 * <pre>{@code
 * @Bean
 * LeaderElection poller(AmqpLocks locks, FilePoller poller) {
 *   return LeaderElection.on(locks.mutex("poller"))
 *       .listener(new LifecycleLeaderListener(() -> poller))
 *       .build();
 * }
 * }</pre>
 *
 * <p>It must not start by itself: let {@code isAutoStartup()} be false. Its work may go on for up
 * to 0.1 s in doubt before it is stopped, and for longer while another listener of the election
 * blocks. After a loss another process may lead already. A listener container's {@code stop()}
 * waits for its handlers for 5 s by default ({@code shutdownTimeout}).
 *
 * <p>It must not be a bean of a context that is stopped and started again by {@code stop()} and
 * {@code start()}: Spring then starts all beans that have a lifecycle, also where another process
 * leads.
 */
public final class LifecycleLeaderListener implements LeaderListener {

  private final Supplier<? extends Lifecycle> lifecycle;

  /** A listener that asks that supplier at each grant and each revocation for what to run. */
  public LifecycleLeaderListener(Supplier<? extends Lifecycle> lifecycle) {
    this.lifecycle = lifecycle;
  }

  @Override
  public void granted(Leadership leadership) {
    if (leadership.isCurrent()) {
      lifecycle.get().start();
    }
  }

  @Override
  public void revoked(Leadership leadership, Revocation revocation) {
    lifecycle.get().stop();
  }
}
