/** Holds by an exclusive queue: the mutex of the guidelines, and the slots of their semaphore. */
@NullMarked
package io.amqplocks.internal.exclusive;

import org.jspecify.annotations.NullMarked;
