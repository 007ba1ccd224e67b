/**
 * The broker: connections and pools of channels, bounded requests and their replies, the names and
 * arguments of the queues that make up a lock.
 */
@NullMarked
package io.amqplocks.internal.broker;

import org.jspecify.annotations.NullMarked;
