/** The mutexes of seed 002: by an exclusive queue, and by an exclusive consumer of a durable one. */
@NullMarked
package io.amqplocks.internal.mutex;

import org.jspecify.annotations.NullMarked;
