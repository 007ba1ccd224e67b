package io.amqplocks.inmemory;

import io.amqplocks.lock.LockId;
import java.time.Instant;

/**
 * One lease that was acquired, in the {@linkplain InMemoryLocks#history() history}.
 *
 * @param lock the lock
 * @param slot the slot; of several permits the first one
 * @param permits how many slots the lease has
 * @param at when it was acquired, by the time of the locks
 * @param thread the name of the thread that called for it
 */
public record Acquisition(LockId lock, int slot, int permits, Instant at, String thread) {}
