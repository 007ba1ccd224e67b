package io.amqplocks.internal.lease;

import io.amqplocks.lock.LockId;
import org.jspecify.annotations.Nullable;

/**
 * What a lease consists of at the broker.
 *
 * @param lock the lock
 * @param slot which slot of it, from 1
 * @param holderQueue the exclusive queue: the slot is held by whoever owns it
 * @param slotQueue the durable queue that must exist while the slot does, if the lock has slots
 */
public record Holding(LockId lock, int slot, String holderQueue, @Nullable String slotQueue) {}
