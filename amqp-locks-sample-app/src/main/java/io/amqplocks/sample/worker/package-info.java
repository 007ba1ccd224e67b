/** The role that resizes images and uploads them, five at once at most across all processes. */
@NullMarked
package io.amqplocks.sample.worker;

import org.jspecify.annotations.NullMarked;
