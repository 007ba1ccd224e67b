package io.amqplocks.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags the observation of a call for a lock. A bean of this type replaces the default.
 */
public interface LockAcquireConvention extends ObservationConvention<LockAcquireContext> {

  @Override
  default boolean supportsContext(Observation.Context context) {
    return context instanceof LockAcquireContext;
  }

  @Override
  default String getName() {
    return "amqp.locks.acquire";
  }
}
