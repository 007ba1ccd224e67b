/** The vocabulary of a lock's user: names, leases, states, listeners, errors. No broker types. */
@NullMarked
package io.amqplocks.lock;

import org.jspecify.annotations.NullMarked;
