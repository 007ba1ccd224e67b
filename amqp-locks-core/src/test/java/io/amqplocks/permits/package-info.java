/** Several permits of a semaphore as one lease, as users see it. */
@NullMarked
package io.amqplocks.permits;

import org.jspecify.annotations.NullMarked;
