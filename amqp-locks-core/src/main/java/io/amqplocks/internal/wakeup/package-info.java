/** How a process that releases a slot notifies a process that waits for one. */
@NullMarked
package io.amqplocks.internal.wakeup;

import org.jspecify.annotations.NullMarked;
