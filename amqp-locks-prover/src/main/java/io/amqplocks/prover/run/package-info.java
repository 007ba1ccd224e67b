/** Drives clients on real brokers, does them harm, and has their histories checked. */
@NullMarked
package io.amqplocks.prover.run;

import org.jspecify.annotations.NullMarked;
