/** Slot semaphores and their administration. */
@NullMarked
package io.amqplocks.slots;

import org.jspecify.annotations.NullMarked;
