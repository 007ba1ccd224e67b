/** Whether the locks work, for Actuator. */
@NullMarked
package io.amqplocks.spring.internal.health;

import org.jspecify.annotations.NullMarked;
