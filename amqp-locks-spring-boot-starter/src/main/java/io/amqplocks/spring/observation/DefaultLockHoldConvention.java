package io.amqplocks.spring.observation;

import io.micrometer.common.KeyValues;

/** Names and tags the observation of a lease by default. */
public class DefaultLockHoldConvention implements LockHoldConvention {

  @Override
  public String getContextualName(LockHoldContext context) {
    return "hold " + context.getLock();
  }

  @Override
  public KeyValues getLowCardinalityKeyValues(LockHoldContext context) {
    return DefaultKeyValues.low(context);
  }

  @Override
  public KeyValues getHighCardinalityKeyValues(LockHoldContext context) {
    return DefaultKeyValues.high(context);
  }
}
