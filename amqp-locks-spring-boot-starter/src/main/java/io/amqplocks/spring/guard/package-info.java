/** How annotated methods are guarded. Not meant to be called by applications. */
@NullMarked
package io.amqplocks.spring.guard;

import org.jspecify.annotations.NullMarked;
