/** Consumers that hold a lock by being there: of persistent mutexes and read-write locks. */
@NullMarked
package io.amqplocks.internal.consuming;

import org.jspecify.annotations.NullMarked;
