/** Leases, their states, their verification and their loss. */
@NullMarked
package io.amqplocks.internal.lease;

import org.jspecify.annotations.NullMarked;
