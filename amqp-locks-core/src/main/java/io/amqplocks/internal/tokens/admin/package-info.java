/** Administration of token semaphores: the record, and the steps that change tokens. */
@NullMarked
package io.amqplocks.internal.tokens.admin;

import org.jspecify.annotations.NullMarked;
