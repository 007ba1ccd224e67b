/** Finds out whether many queues exist, without closing a channel for each absent one. */
@NullMarked
package io.amqplocks.internal.slots.probe;

import org.jspecify.annotations.NullMarked;
