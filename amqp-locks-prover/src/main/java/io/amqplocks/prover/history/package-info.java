/** What clients did and when, as they said it themselves. */
@NullMarked
package io.amqplocks.prover.history;

import org.jspecify.annotations.NullMarked;
