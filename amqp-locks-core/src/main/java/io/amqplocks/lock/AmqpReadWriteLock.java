package io.amqplocks.lock;

/**
 * A read-write lock: any number of readers, or one writer. Its two sides are locks of their own,
 * with the names, waits, fencing tokens, listeners and leases that all locks have.
 *
 * <p>Waiters are served in the order of arrival, and so neither side starves the other. A reader
 * that arrives while a writer waits therefore waits too, even if only readers hold the lock. There
 * are two exceptions, both bounded. The waiting readers of one process are served together, up to
 * 100 at a time, and a reader that joins them may pass a writer that came earlier. Those that want
 * a fencing token and those that do not stand in line separately. The writers of one process may
 * pass the lock among themselves for 100 ms.
 *
 * <p>{@link AmqpLock#tryAcquire()} of a reader returns empty while a writer holds the lock or waits
 * for it, and while somebody who waited for it is just being served.
 *
 * <p>The fencing tokens of both sides come from one counter. The token of a writer is above those
 * of all earlier readers and writers. The token of a reader is above those of all earlier writers.
 * Readers that hold at the same time may use their tokens in any order. So a resource refuses a
 * writer whose token is below the highest token that it has seen, and a reader whose token is below
 * the highest token of a writer.
 *
 * <p>A lease of one side never becomes a lease of the other. A holder of the read lock that
 * acquires the write lock waits for itself until its time is over. So does a holder of the write
 * lock that acquires the read lock. In the Spring Boot starter, a nested call of a reader joins its
 * writer's lease, and a nested call of a writer in a reader fails at once.
 *
 * @param readLock the lock of the readers
 * @param writeLock the lock of the writers
 */
public record AmqpReadWriteLock(AmqpLock readLock, AmqpLock writeLock) {}
