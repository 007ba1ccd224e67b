/** What the locks do, for Micrometer. */
@NullMarked
package io.amqplocks.spring.internal.metrics;

import org.jspecify.annotations.NullMarked;
