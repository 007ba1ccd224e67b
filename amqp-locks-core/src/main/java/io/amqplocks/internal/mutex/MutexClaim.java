package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.Subscription;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Optional;

/**
 * Acquires a mutex by consuming its queue. A caller that only tries cancels the consumer if it is
 * not sent a message. A caller that waits stands by, and the broker calls in the order of arrival.
 *
 * @param queue the mutex's queue
 * @param leases creates the lease
 * @param persistent whether administrators declare and delete the queue, and clients must not
 * @param awaitsRelease whether a release waits until the broker has carried it out, unless it is
 *     just being verified. Without that, a look at the queue right after a release may still find
 *     its consumer.
 */
public record MutexClaim(
    String queue, LeaseFactory leases, boolean persistent, boolean awaitsRelease) implements Claim {

  /** A mutex whose release does not wait. */
  public MutexClaim(String queue, LeaseFactory leases) {
    this(queue, leases, false, false);
  }

  /** A mutex whose release waits until the broker has carried it out. */
  public static MutexClaim awaitingReleases(String queue, LeaseFactory leases) {
    return new MutexClaim(queue, leases, false, true);
  }

  /** A mutex that administrators enable and disable. */
  public static MutexClaim persistent(String queue, LeaseFactory leases) {
    return new MutexClaim(queue, leases, true, false);
  }

  @Override
  public Optional<HeldLease> attempt(Call call, Session session) {
    return leases.take(
        call,
        session,
        (same, own) -> {
          ActiveConsumers consumers = consumers(own);
          return consumers
              .take(same, queue)
              .map(
                  consumer ->
                      new ActiveConsumerHold(
                          same.lock(), consumers, consumer, false, awaitsRelease));
        });
  }

  /**
   * How many leases and waiters the mutex has.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   */
  public int contenders(Call call, Session session) {
    return consumers(session).count(call, queue);
  }

  @Override
  public boolean isAcquiredBySubscribing(LockId lock) {
    return true;
  }

  @Override
  public Subscription subscribe(Call call, Session session, Runnable wake) {
    ActiveConsumers consumers = consumers(session);
    ActiveConsumer consumer = consumers.consume(call, queue, wake);
    return new ActiveConsumerSubscription(session, consumers, consumer, this, wake);
  }

  private ActiveConsumers consumers(Session session) {
    return persistent ? ActiveConsumers.ofEnabled(session) : ActiveConsumers.of(session);
  }
}
