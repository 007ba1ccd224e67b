/** Read-write locks. */
@NullMarked
package io.amqplocks.readwrite;

import org.jspecify.annotations.NullMarked;
