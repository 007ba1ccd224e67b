package io.amqplocks.spring.internal.metrics;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.observation.ExpectedObservation;
import io.amqplocks.spring.internal.observation.LockObservations;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.observation.ObservationFilter;
import java.util.List;

/** The meters that observations of the named locks will have, from the start on. */
public final class ObservedMeters implements MeterBinder {

  private final LockCatalog catalog;
  private final LockObservations observations;
  private final List<ObservationFilter> filters;

  /** Creates the meters of the catalog's locks, with the filters of the observations' registry. */
  public ObservedMeters(
      LockCatalog catalog, LockObservations observations, List<ObservationFilter> filters) {
    this.catalog = catalog;
    this.observations = observations;
    this.filters = List.copyOf(filters);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    catalog.watch(id -> bind(registry, id));
  }

  private void bind(MeterRegistry registry, LockId id) {
    for (ExpectedObservation each :
        ExpectedObservation.of(id, id.name().value(), observations, filters)) {
      Timer.builder(each.name())
          .description(each.description())
          .tags(tags(each.tags()).and("error", each.error()))
          .register(registry);
      if (!each.event().isEmpty()) {
        Counter.builder(each.name() + "." + each.event())
            .description(MeterDescriptions.LOSSES)
            .tags(tags(each.eventTags()))
            .register(registry);
      }
    }
  }

  private static Tags tags(KeyValues values) {
    return Tags.of(values.stream().map(value -> Tag.of(value.getKey(), value.getValue())).toList());
  }
}
