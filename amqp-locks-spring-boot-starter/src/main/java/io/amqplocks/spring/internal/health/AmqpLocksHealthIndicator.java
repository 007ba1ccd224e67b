package io.amqplocks.spring.internal.health;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.lock.LocksStatus.Session;
import io.amqplocks.spring.internal.leader.LeaderElections;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether locks can be acquired: UP with a session, DOWN if none can be opened, never DOWN because
 * a lock is contended.
 *
 * <p>If there is no session, this check opens one rather than report what was: an instance that is
 * taken out of service while it is DOWN gets no work whose next acquire could open the session, and
 * would stay DOWN for ever.
 *
 * <p>While an alarm of the broker holds up publishers, it says UP with the detail {@code blocked}:
 * leases are held and can be released, tokens and mutexes acquired, but slots have to wait.
 * RabbitMQ tells a connection of the alarm when that publishes, so {@code blocked} is not said
 * before.
 *
 * <p>An open session is not tried out: with a broker that has stopped without a word it says UP for
 * up to three heartbeats more, until the leases are lost too. A process with leases shows it
 * sooner, by the detail {@code uncertain}: how many of them the broker has not confirmed for too
 * long.
 *
 * <p>The first check of an outage that fails is logged, without a stack trace, and the others are
 * not: a probe comes every few seconds.
 */
public final class AmqpLocksHealthIndicator extends AbstractHealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(AmqpLocksHealthIndicator.class);

  private final AtomicBoolean down = new AtomicBoolean();
  private final AmqpLocks locks;
  private final LeaderElections elections;

  /** The health of those locks, with the elections that this process takes part in. */
  public AmqpLocksHealthIndicator(AmqpLocks locks, LeaderElections elections) {
    super("The locks' session with the broker could not be checked");
    this.locks = locks;
    this.elections = elections;
  }

  @Override
  protected void doHealthCheck(Health.Builder builder) {
    LocksStatus status = locks.status();
    builder.up();
    if (status.session() == Session.NOT_OPENED || status.session() == Session.ENDED) {
      try {
        locks.connect();
      } catch (LockException e) {
        isDown(builder, e);
      }
      status = locks.status();
    }
    if (status.session() == Session.OPEN) {
      down.set(false);
    }
    if (status.session() == Session.CLOSED) {
      builder.outOfService();
    }
    builder
        .withDetail("session", status.session())
        .withDetail("blocked", status.blocked())
        .withDetail("held", status.held())
        .withDetail("uncertain", status.uncertain())
        .withDetail("waiting", status.waiting());
    Map<String, Boolean> leads = leads();
    if (!leads.isEmpty()) {
      builder.withDetail("leads", leads);
    }
    status.lastLoss().ifPresent(loss -> builder.withDetail("lastLoss", loss));
    status.lastLossAt().ifPresent(when -> builder.withDetail("lastLossAt", when));
  }

  /** As {@link Health.Builder#down(Throwable)} does, which has Spring Boot log each failure. */
  private void isDown(Health.Builder builder, LockException failure) {
    String text = failure.getClass().getName() + ": " + failure.getMessage();
    builder.down().withDetail("error", text);
    if (down.compareAndSet(false, true)) {
      log.warn("Health of the locks is DOWN until the broker can be reached: {}", text);
    }
  }

  /** Whether this process certainly leads, by the election's lock. To follow is no fault. */
  private Map<String, Boolean> leads() {
    Map<String, Boolean> leads = new TreeMap<>();
    for (LeaderElection election : elections.known()) {
      leads.merge(election.lock().toString(), election.isLeader(), Boolean::logicalOr);
    }
    return leads;
  }
}
