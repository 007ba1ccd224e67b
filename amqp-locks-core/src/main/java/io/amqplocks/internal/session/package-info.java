/** The session with the broker: connections, bounded calls, and the exclusive queues it holds. */
@NullMarked
package io.amqplocks.internal.session;

import org.jspecify.annotations.NullMarked;
