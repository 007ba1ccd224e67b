/** Finds the annotated methods of beans, and guards their calls by Spring's proxies. */
@NullMarked
package io.amqplocks.spring.internal.guard;

import org.jspecify.annotations.NullMarked;
