/** Fencing tokens: counters at the broker, how one is drawn from, made and renewed. */
@NullMarked
package io.amqplocks.internal.fencing;

import org.jspecify.annotations.NullMarked;
