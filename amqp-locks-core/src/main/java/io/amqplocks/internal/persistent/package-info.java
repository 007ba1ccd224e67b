/** Enabling and disabling persistent mutexes, which are held as the default mutex is. */
@NullMarked
package io.amqplocks.internal.persistent;

import org.jspecify.annotations.NullMarked;
