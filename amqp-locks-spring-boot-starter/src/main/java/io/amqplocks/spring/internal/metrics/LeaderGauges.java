package io.amqplocks.spring.internal.metrics;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.leader.LeaderElections;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * Whether this process leads, for each lock that an election is on: by any of its elections.
 *
 * @param elections the elections
 */
public record LeaderGauges(LeaderElections elections) implements MeterBinder {

  @Override
  public void bindTo(MeterRegistry registry) {
    elections.watch(lock -> register(registry, lock));
  }

  private void register(MeterRegistry registry, LockId lock) {
    Gauge.builder("amqp.locks.leader", elections, all -> all.leads(lock) ? 1 : 0)
        .description("1 while this process certainly leads")
        .tags(SingleLockMeters.tags(lock.kind(), lock.name().value()))
        .register(registry);
  }
}
