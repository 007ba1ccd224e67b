package io.amqplocks.spring;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LossReason;

/**
 * A lease of this application was lost: whoever works under it must stop. Published to the
 * application's listeners for every lost lease, on a thread of the library; a listener that blocks
 * delays all later notices.
 *
 * @param lease what was lost; {@link Lease#lock()} tells of which lock
 * @param reason why
 */
public record LeaseLostEvent(Lease lease, LossReason reason) {}
