/** One call of a guarded method: acquire, work, give back. */
@NullMarked
package io.amqplocks.spring.internal.guard.call;

import org.jspecify.annotations.NullMarked;
