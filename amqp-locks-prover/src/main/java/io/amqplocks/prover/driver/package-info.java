/** A client of the locks in a process of its own, and the lines by which it is driven. */
@NullMarked
package io.amqplocks.prover.driver;

import org.jspecify.annotations.NullMarked;
