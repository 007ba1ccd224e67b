/** Calls that want a lock which the call around them holds. */
@NullMarked
package io.amqplocks.spring.internal.nesting;

import org.jspecify.annotations.NullMarked;
