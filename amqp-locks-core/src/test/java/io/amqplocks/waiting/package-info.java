/** Waiting for a lock of any kind, and handing it over. */
@NullMarked
package io.amqplocks.waiting;

import org.jspecify.annotations.NullMarked;
