/** Fencing tokens: counters at the broker, how numbers are drawn from them, made and renewed. */
@NullMarked
package io.amqplocks.internal.fencing;

import org.jspecify.annotations.NullMarked;
