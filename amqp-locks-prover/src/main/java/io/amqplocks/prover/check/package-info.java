/** Looks for violations in histories. Knows no broker. */
@NullMarked
package io.amqplocks.prover.check;

import org.jspecify.annotations.NullMarked;
