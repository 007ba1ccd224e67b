package io.amqplocks.spring.internal.nesting;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;

/**
 * One lock of one owner. A read lock and a write lock of one name are two locks, but a call that
 * holds one of them would wait for itself at the other.
 *
 * @param owner where the lock comes from
 * @param id the lock
 */
public record LockIdentity(Object owner, LockId id) {

  /** Whether it is that lock, or the other side of the same read-write lock. */
  boolean isSameOrOtherSide(LockIdentity other) {
    return equals(other) || isOtherSide(other);
  }

  private boolean isOtherSide(LockIdentity other) {
    return owner.equals(other.owner)
        && id.name().equals(other.id.name())
        && (isReader() ? other.isWriter() : isWriter() && other.isReader());
  }

  /** Whether its holder may do what a holder of that one may: a writer may read. */
  boolean covers(LockIdentity wanted) {
    return equals(wanted) || (isWriter() && isOtherSide(wanted));
  }

  private boolean isReader() {
    return id.kind() == LockKind.READ_LOCK;
  }

  private boolean isWriter() {
    return id.kind() == LockKind.WRITE_LOCK;
  }
}
