/** Several permits of a semaphore as one lease: all of them or none. */
@NullMarked
package io.amqplocks.internal.permits;

import org.jspecify.annotations.NullMarked;
