/**
 * The vocabulary of a lock's user: names, leases, states, listeners and errors. It has no broker
 * types.
 */
@NullMarked
package io.amqplocks.lock;

import org.jspecify.annotations.NullMarked;
