/** What an annotated method declares: its annotations, their expressions, and how its work runs. */
@NullMarked
package io.amqplocks.spring.internal.guard.declared;

import org.jspecify.annotations.NullMarked;
