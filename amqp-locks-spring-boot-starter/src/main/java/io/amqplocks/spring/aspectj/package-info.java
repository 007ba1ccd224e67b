/** Locks by AspectJ instead of Spring's proxies. */
@NullMarked
package io.amqplocks.spring.aspectj;

import org.jspecify.annotations.NullMarked;
