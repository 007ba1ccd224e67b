package io.amqplocks.spring.observation;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.observation.LockObservation.HighCardinality;
import io.amqplocks.spring.observation.LockObservation.LowCardinality;
import io.micrometer.common.KeyValues;
import java.util.Optional;

/** The keys and values of both observations. */
final class DefaultKeyValues {

  private DefaultKeyValues() {}

  static KeyValues low(LockContext context) {
    return KeyValues.of(
        LowCardinality.NAME.withValue(context.getLockName()),
        LowCardinality.TYPE.withValue(context.getLock().kind().label()),
        LowCardinality.OUTCOME.withValue(context.getOutcome()));
  }

  static KeyValues high(LockContext context) {
    KeyValues values =
        KeyValues.of(HighCardinality.LOCK.withValue(context.getLock().name().value()));
    Lease lease = context.getLease();
    if (lease == null) {
      return values;
    }
    KeyValues held = values.and(HighCardinality.SLOT.withValue(Integer.toString(lease.slot())));
    if (lease.permits() > 1) {
      held = held.and(HighCardinality.PERMITS.withValue(Integer.toString(lease.permits())));
    }
    Optional<FencingToken> token = lease.fencingTokenIfAny();
    return token.isPresent()
        ? held.and(HighCardinality.FENCING_TOKEN.withValue(token.get().toString()))
        : held;
  }
}
