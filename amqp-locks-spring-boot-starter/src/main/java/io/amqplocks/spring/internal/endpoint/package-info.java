/** The locks as an operator sees and changes them, for Actuator. */
@NullMarked
package io.amqplocks.spring.internal.endpoint;

import org.jspecify.annotations.NullMarked;
