/** Persistent mutexes. */
@NullMarked
package io.amqplocks.persistent;

import org.jspecify.annotations.NullMarked;
