/** Token semaphores of seed 000: a slot is a message that nobody acknowledges. */
@NullMarked
package io.amqplocks.internal.tokens;

import org.jspecify.annotations.NullMarked;
