/** The mutex: an exclusive queue, as seed 002 has it. */
@NullMarked
package io.amqplocks.internal.mutex;

import org.jspecify.annotations.NullMarked;
