/** Token semaphores and fenced mutexes, their administration, and the plain protocol. */
@NullMarked
package io.amqplocks.tokens;

import org.jspecify.annotations.NullMarked;
