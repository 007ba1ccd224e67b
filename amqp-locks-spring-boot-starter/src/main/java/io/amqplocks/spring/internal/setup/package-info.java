/** Creates semaphores at startup or at their first use. */
@NullMarked
package io.amqplocks.spring.internal.setup;

import org.jspecify.annotations.NullMarked;
