/** Calls for locks and leases, for Micrometer Observation: traces and timers. */
@NullMarked
package io.amqplocks.spring.observation;

import org.jspecify.annotations.NullMarked;
