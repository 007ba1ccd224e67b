/** How annotated methods are guarded. */
@NullMarked
package io.amqplocks.spring.internal.guard;

import org.jspecify.annotations.NullMarked;
