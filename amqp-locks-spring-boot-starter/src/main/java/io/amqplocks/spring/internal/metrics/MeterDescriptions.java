package io.amqplocks.spring.internal.metrics;

import io.amqplocks.spring.internal.observation.ExpectedObservation;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Map;

/**
 * Describes what Micrometer's handler makes of the locks' observations: it gives its meters no
 * description. Those of named locks are there before the handler asks for them, but not the ones of
 * what is under way, nor those of locks that nothing names beforehand.
 *
 * <p>A filter is shown all meters of the application. This one changes only meters of these names,
 * and only if they have no description.
 */
public final class MeterDescriptions implements MeterFilter {

  static final String LOSSES = "Leases that were lost and not released";

  private static final Map<String, String> BY_NAME =
      Map.of(
          "amqp.locks.acquire",
          ExpectedObservation.CALL,
          "amqp.locks.acquire.active",
          "Calls for a lock that are under way",
          "amqp.locks.hold",
          ExpectedObservation.LEASE,
          "amqp.locks.hold.active",
          "Leases that are held, and for how long",
          "amqp.locks.hold.lost",
          LOSSES);

  @Override
  public Meter.Id map(Meter.Id id) {
    String description = id.getDescription() == null ? BY_NAME.get(id.getName()) : null;
    return description == null
        ? id
        : new Meter.Id(
            id.getName(),
            Tags.of(id.getTagsAsIterable()),
            id.getBaseUnit(),
            description,
            id.getType());
  }
}
