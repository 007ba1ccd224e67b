/** Fencing tokens of locks that draw them from a counter. */
@NullMarked
package io.amqplocks.fencing;

import org.jspecify.annotations.NullMarked;
