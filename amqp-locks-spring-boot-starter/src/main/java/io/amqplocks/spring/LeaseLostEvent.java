package io.amqplocks.spring;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LossReason;

/**
 * A lease of this application was lost, so work under it must stop. This event is published for
 * every lost lease, on a thread of the library. A listener that blocks delays all later events, but
 * neither {@link Lease#whenLost()} nor the interrupt by {@link OnLost#INTERRUPT}. A lease that was
 * only kept for its minimum time ({@code holdAtLeast}) may be lost too; its work has ended, and the
 * log says so.
 *
 * @param lease the lost lease; {@link Lease#lock()} is its lock
 * @param reason why
 */
public record LeaseLostEvent(Lease lease, LossReason reason) {}
