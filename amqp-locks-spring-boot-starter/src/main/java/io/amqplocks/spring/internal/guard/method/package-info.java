/** What is known of a guarded method, and what a call of it asks for and holds. */
@NullMarked
package io.amqplocks.spring.internal.guard.method;

import org.jspecify.annotations.NullMarked;
