/** Starts and closes the locks with the application context, and publishes its events. */
@NullMarked
package io.amqplocks.spring.internal.lifecycle;

import org.jspecify.annotations.NullMarked;
