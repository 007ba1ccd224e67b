/** The default mutex: the single active consumer of a classic queue that expires when unused. */
@NullMarked
package io.amqplocks.internal.mutex;

import org.jspecify.annotations.NullMarked;
