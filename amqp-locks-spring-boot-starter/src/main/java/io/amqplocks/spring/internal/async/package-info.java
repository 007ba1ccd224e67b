/** Work that goes on after the call that began it, without a thread that waits. */
@NullMarked
package io.amqplocks.spring.internal.async;

import org.jspecify.annotations.NullMarked;
