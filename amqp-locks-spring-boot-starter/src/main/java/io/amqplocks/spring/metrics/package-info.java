/** What the locks do, for Micrometer. */
@NullMarked
package io.amqplocks.spring.metrics;

import org.jspecify.annotations.NullMarked;
