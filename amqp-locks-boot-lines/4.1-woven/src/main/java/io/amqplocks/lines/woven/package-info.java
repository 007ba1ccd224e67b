/** An application that AspectJ's Maven plugin weaves. */
@NullMarked
package io.amqplocks.lines.woven;

import org.jspecify.annotations.NullMarked;
