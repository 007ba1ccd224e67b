/** How locks and their keys are named, whatever their algorithms. */
@NullMarked
package io.amqplocks.spring.internal.naming;

import org.jspecify.annotations.NullMarked;
