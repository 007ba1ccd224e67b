/** The lock among the advice of libraries that retry. */
@NullMarked
package io.amqplocks.lines.retries;

import org.jspecify.annotations.NullMarked;
