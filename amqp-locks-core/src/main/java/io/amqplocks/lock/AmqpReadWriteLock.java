package io.amqplocks.lock;

/**
 * A read-write lock: any number of readers, or one writer. Its two sides are locks of their own,
 * with the names, waits, fencing tokens, listeners and leases that all locks have.
 *
 * <p>Readers and writers of all processes that wait are served in the order of arrival. So no
 * writer waits forever while readers come and go, and no reader while writers do. A reader that
 * arrives while a writer waits therefore waits too, even if only readers hold the lock. The
 * waiting readers of one process stand in line once and are served together. So a reader may be
 * served, with them, before a writer of another process that came earlier.
 *
 * <p>{@link AmqpLock#tryAcquire()} of a reader returns empty while a writer holds the lock or waits
 * for it, and while somebody who waited for it is just being served.
 *
 * <p>The fencing tokens of both sides are drawn from one counter. The token of a writer is above
 * those of all readers and writers before it, and the token of a reader above those of all writers
 * before it. The tokens of readers that hold at the same time have no order that means anything. So
 * a resource compares the tokens of readers with the highest one of a writer, and not with each
 * other.
 *
 * <p>What is not promised: a lease on one side is never turned into one on the other. Whoever has a
 * read lease and acquires the write lock waits for itself until the time is over, and so does
 * whoever has the write lease and acquires the read lock.
 *
 * @param readLock the lock of the readers
 * @param writeLock the lock of the writers
 */
public record AmqpReadWriteLock(AmqpLock readLock, AmqpLock writeLock) {}
