/** How templates and injected handles find their locks. */
@NullMarked
package io.amqplocks.spring.internal.template;

import org.jspecify.annotations.NullMarked;
