/** Pictures, as files and scaled down. */
@NullMarked
package io.amqplocks.sample.images;

import org.jspecify.annotations.NullMarked;
