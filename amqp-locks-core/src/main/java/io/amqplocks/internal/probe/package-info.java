/** Whether queues exist, asked without breaking a channel. */
@NullMarked
package io.amqplocks.internal.probe;

import org.jspecify.annotations.NullMarked;
