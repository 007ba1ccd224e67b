/** A session: one life of the holder connection, and everything that ends with it. */
@NullMarked
package io.amqplocks.internal.session;

import org.jspecify.annotations.NullMarked;
