/** Time that tests can set. */
@NullMarked
package io.amqplocks.spring.internal.time;

import org.jspecify.annotations.NullMarked;
