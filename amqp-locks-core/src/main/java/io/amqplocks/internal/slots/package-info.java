/** The persistent semaphore's slots: pairs of queues, as seed 001 has them, corrected. */
@NullMarked
package io.amqplocks.internal.slots;

import org.jspecify.annotations.NullMarked;
