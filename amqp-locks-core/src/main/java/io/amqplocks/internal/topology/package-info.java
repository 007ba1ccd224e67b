/** What stands at the broker: the names and arguments of the queues that make up a lock. */
@NullMarked
package io.amqplocks.internal.topology;

import org.jspecify.annotations.NullMarked;
