/** Observes calls and leases, for Micrometer. */
@NullMarked
package io.amqplocks.spring.internal.observation;

import org.jspecify.annotations.NullMarked;
