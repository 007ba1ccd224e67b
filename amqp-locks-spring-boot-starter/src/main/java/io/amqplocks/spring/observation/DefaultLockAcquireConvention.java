package io.amqplocks.spring.observation;

import io.micrometer.common.KeyValues;

/** Names and tags the observation of a call for a lock by default. */
public class DefaultLockAcquireConvention implements LockAcquireConvention {

  @Override
  public String getContextualName(LockAcquireContext context) {
    return "acquire " + context.getLock();
  }

  @Override
  public KeyValues getLowCardinalityKeyValues(LockAcquireContext context) {
    return DefaultKeyValues.low(context);
  }

  @Override
  public KeyValues getHighCardinalityKeyValues(LockAcquireContext context) {
    return DefaultKeyValues.high(context);
  }
}
