/** How threads of one process wait for a lock, and what waiting between processes costs. */
@NullMarked
package io.amqplocks.internal.waiting;

import org.jspecify.annotations.NullMarked;
