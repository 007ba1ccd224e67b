/**
 * The slot semaphore of the guidelines, corrected: a pair of queues for each slot, one for the slot
 * and one for its holder. Its administration.
 */
@NullMarked
package io.amqplocks.internal.slots;

import org.jspecify.annotations.NullMarked;
