/** What is checked when an application starts: mistakes that would show only at a call. */
@NullMarked
package io.amqplocks.spring.internal.guard.check;

import org.jspecify.annotations.NullMarked;
