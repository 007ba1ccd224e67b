/** The read-write lock: shared and exclusive consumers of one queue, and a mutex of who is next. */
@NullMarked
package io.amqplocks.internal.readwrite;

import org.jspecify.annotations.NullMarked;
