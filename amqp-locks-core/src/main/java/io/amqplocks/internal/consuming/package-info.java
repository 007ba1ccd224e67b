/** Consumers that hold a lock by being there: those of read-write locks. */
@NullMarked
package io.amqplocks.internal.consuming;

import org.jspecify.annotations.NullMarked;
