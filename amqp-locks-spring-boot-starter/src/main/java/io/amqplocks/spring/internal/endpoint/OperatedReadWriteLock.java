package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.ReadWriteLockAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One side of a read-write lock. The broker tells how many hold the lock, but not which side they
 * hold. So the holders of both sides are counted, and a holder in another process may be one of
 * either side.
 */
final class OperatedReadWriteLock extends OperatedLock {

  private static final String OF_ALL = " That takes it from all its readers and its writer.";

  private final FamilyId side;
  private final ReadWriteLockAdmin lock;

  OperatedReadWriteLock(AmqpLocks locks, LockId id, ReadWriteLockAdmin lock) {
    super(locks, id);
    side = FamilyId.of(id);
    this.lock = lock;
  }

  @Override
  BrokerDescriptor describe() {
    return BrokerDescriptor.readWriteLock(lock.holders());
  }

  @Override
  Done resize(int slots) {
    throw new LockException.Invalid(
        "The %s cannot be resized: it has no slots; a semaphore has".formatted(side));
  }

  @Override
  Done release(String why, Duration timeout) {
    Supplier<Integer> others =
        asked(() -> heldByOthers(id -> FamilyId.of(id).isSameOrOtherSide(side), lock::holders));
    int revoked = revoke(why);
    return PartialChangeException.unless(
        revoked,
        () -> {
          if (others.get() <= 0) {
            return released(revoked, 0, null);
          }
          if (revoked > 0) {
            return released(revoked, 0, remedy(Set.of(1)) + "." + OF_ALL);
          }
          throw new LockException.Conflict(
              "The %s is not held by this process, so it cannot be taken back here. %s.%s"
                  .formatted(side, remedy(Set.of(1)), OF_ALL));
        });
  }
}
