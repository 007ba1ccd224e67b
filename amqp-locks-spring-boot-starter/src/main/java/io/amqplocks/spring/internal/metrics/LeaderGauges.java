package io.amqplocks.spring.internal.metrics;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.leader.LeaderElections;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Whether this process leads, for each election that is started with the application.
 *
 * @param elections the elections
 */
public record LeaderGauges(LeaderElections elections) implements MeterBinder {

  @Override
  public void bindTo(MeterRegistry registry) {
    elections.all().forEach(election -> register(registry, election));
  }

  private static void register(MeterRegistry registry, LeaderElection election) {
    LockId lock = election.lock();
    Gauge.builder("amqp.locks.leader", election, each -> each.isLeader() ? 1 : 0)
        .description("1 while this process certainly leads")
        .tags(SingleLockMeters.tags(lock.kind(), lock.name().value()))
        .register(registry);
  }
}
