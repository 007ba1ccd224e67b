/** Mutexes that are exclusive queues. */
@NullMarked
package io.amqplocks.mutex;

import org.jspecify.annotations.NullMarked;
