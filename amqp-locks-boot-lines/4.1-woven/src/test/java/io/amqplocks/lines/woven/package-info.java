/** What a woven application does. */
@NullMarked
package io.amqplocks.lines.woven;

import org.jspecify.annotations.NullMarked;
