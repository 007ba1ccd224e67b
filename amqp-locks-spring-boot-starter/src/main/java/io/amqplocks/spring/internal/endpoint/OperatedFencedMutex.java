package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/**
 * A fenced mutex. It has one holder: if that was a lease of this process, nothing is left to do.
 * Its first acquire creates it, so it is free before that too.
 */
final class OperatedFencedMutex extends OperatedLock {

  private final TokenSemaphoreAdmin token;

  OperatedFencedMutex(AmqpLocks locks, LockId id, TokenSemaphoreAdmin token) {
    super(locks, id);
    this.token = token;
  }

  @Override
  BrokerDescriptor describe() {
    TokenStatus status = token.status();
    return status.slots() == 0
        ? BrokerDescriptor.mutex(null, false)
        : OperatedTokens.describe(status, null);
  }

  @Override
  Done release(String why, Duration timeout) {
    int revoked = revoke(why);
    return revoked > 0 || token.inUse() == 0
        ? released(revoked, 0, null)
        : OperatedTokens.replaced(token, 0, timeout);
  }
}
