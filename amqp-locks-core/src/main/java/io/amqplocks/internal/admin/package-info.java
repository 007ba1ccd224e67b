/** Administration of persistent semaphores. */
@NullMarked
package io.amqplocks.internal.admin;

import org.jspecify.annotations.NullMarked;
