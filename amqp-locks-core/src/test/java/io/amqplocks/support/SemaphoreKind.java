package io.amqplocks.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SemaphoreAdmin;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.Optional;

/** The semaphores that there are: what holds for all of them is tested with each. */
public enum SemaphoreKind {
  CLASSIC_TOKENS,
  QUORUM_TOKENS,
  SLOTS;

  public LockId id(String name) {
    return this == SLOTS ? LockId.slotSemaphore(name) : LockId.tokenSemaphore(name);
  }

  /** Creates a semaphore, which is deleted at the end of the test. */
  public AmqpLock create(Fixture fixture, AmqpLocks locks, String name, int slots) {
    switch (this) {
      case CLASSIC_TOKENS ->
          locks.admin().tokenSemaphore(name).create(slots, TokenQueueType.CLASSIC);
      case QUORUM_TOKENS -> locks.admin().tokenSemaphore(name).create(slots, TokenQueueType.QUORUM);
      case SLOTS -> fixture.create(locks, name, slots);
    }
    return of(locks, name);
  }

  /** The semaphore of that name. */
  public AmqpLock of(AmqpLocks locks, String name) {
    return locks.lock(id(name));
  }

  /** Its administrator. */
  public SemaphoreAdmin admin(AmqpLocks locks, String name) {
    return locks.admin().semaphore(id(name));
  }

  /** As a process that a test starts is told of it. */
  public String argument(String name) {
    return (this == SLOTS ? "semaphore:" : "tokens:") + name;
  }

  /**
   * Waits until a call somewhere else has the turn to collect permits, and has collected all free
   * slots. From then on it keeps them; before, it only tries.
   */
  public static void awaitCollected(Fixture fixture, AmqpLock semaphore) {
    String turn = fixture.names().permits(semaphore.id());
    await()
        .until(
            () ->
                fixture.broker().faults().queues().stream()
                    .anyMatch(queue -> queue.name().equals(turn) && queue.consumers() > 0));
    await()
        .until(
            () -> {
              Optional<Lease> free = semaphore.tryAcquire();
              free.ifPresent(Lease::close);
              return free.isEmpty();
            });
  }

  /** Asserts that nobody can acquire a slot, in all of that time. One that is free is not kept. */
  public static void assertNoneIsFreeFor(AmqpLock semaphore, Duration time) {
    long begin = System.nanoTime();
    await()
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              Optional<Lease> free = semaphore.tryAcquire();
              free.ifPresent(Lease::close);
              assertThat(free).as("a free slot").isEmpty();
              return System.nanoTime() - begin > time.toNanos();
            });
  }
}
