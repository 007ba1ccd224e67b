/** Sole consumers: of several processes, one consumes a queue, and the others stand by. */
@NullMarked
package io.amqplocks.consumer;

import org.jspecify.annotations.NullMarked;
