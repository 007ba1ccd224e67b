/**
 * Locks in the memory of one process, for tests without a broker: {@link
 * io.amqplocks.inmemory.InMemoryLocks}.
 */
@NullMarked
package io.amqplocks.inmemory;

import org.jspecify.annotations.NullMarked;
