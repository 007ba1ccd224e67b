package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Waiting for a mutex by a consumer that stands by. It is called by the broker, also if the holder
 * dies, so nothing is asked meanwhile, except now and then whether the queue still has a message. A
 * message that arrives is held at once, whether the waiter knows it yet or not. The subscription is
 * used up by its first message.
 *
 * <p>Concurrency: for one thread at a time.
 */
final class ActiveConsumerSubscription implements Subscription {

  /** The wait before the first look at the queue. */
  private static final long SHORTEST = Duration.ofMillis(100).toNanos();

  /** The longest time between two looks at the queue. */
  private static final long LONGEST = Duration.ofSeconds(5).toNanos();

  private final Session session;
  private final ActiveConsumers consumers;
  private final ActiveConsumer consumer;
  private final MutexClaim claim;
  private final Session.Member onEnd;
  private boolean begun;
  private boolean looked;
  private boolean claimed;
  private long lookAt;

  ActiveConsumerSubscription(
      Session session,
      ActiveConsumers consumers,
      ActiveConsumer consumer,
      MutexClaim claim,
      Runnable wake) {
    this.session = session;
    this.consumers = consumers;
    this.consumer = consumer;
    this.claim = claim;
    onEnd = reason -> wake.run();
    session.join(onEnd);
  }

  @Override
  public Optional<HeldLease> attempt(Call call) {
    if (!session.isOpen()) {
      throw new LockException.Unreachable(
          "The session ended while waiting for " + call.lock(), null);
    }
    long now = call.ticker().nanos();
    if (!begun) {
      begun = true;
      lookAt = now + SHORTEST;
    } else if (!consumer.isActive() && now - lookAt >= 0) {
      boolean again = looked;
      consumers.tend(call, consumer);
      consumers.proveWhileWaiting(call, consumer);
      lookLater(call);
      if (again && !consumer.isActive() && session.broker().mayForgetWaiters()) {
        consumer.gone(new LossReason(Cause.REVOKED, "it may have been forgotten"));
        return Optional.empty();
      }
    }
    if (!consumer.isActive() || !consumers.isSingle(call, consumer)) {
      return Optional.empty();
    }
    claimed = true;
    return claim
        .leases()
        .take(
            call,
            session,
            (same, own) ->
                Optional.of(
                    new ActiveConsumerHold(
                        call.lock(), consumers, consumer, true, claim.awaitsRelease())));
  }

  private void lookLater(Call call) {
    looked = true;
    long longest = longest();
    lookAt = call.ticker().nanos() + ThreadLocalRandom.current().nextLong(longest / 2, longest);
  }

  @Override
  public boolean isOver() {
    return claimed || consumer.isGone();
  }

  @Override
  public long pauseNanos() {
    return looked ? longest() : SHORTEST;
  }

  /** A message proves nothing about a connection that was silent for long. */
  private long longest() {
    return Math.min(LONGEST, session.heartbeat().toNanos() / 2);
  }

  @Override
  public void close() {
    session.leave(onEnd);
    if (!claimed) {
      consumers.release(consumer);
    }
  }
}
