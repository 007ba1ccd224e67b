/** The persistent mutex: an exclusive consumer of a durable queue. */
@NullMarked
package io.amqplocks.internal.persistent;

import org.jspecify.annotations.NullMarked;
