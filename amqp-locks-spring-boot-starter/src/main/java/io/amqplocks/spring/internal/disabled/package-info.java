/** What stands for locks where they are switched off. */
@NullMarked
package io.amqplocks.spring.internal.disabled;

import org.jspecify.annotations.NullMarked;
