/** Whether the locks work, for Actuator. */
@NullMarked
package io.amqplocks.spring.health;

import org.jspecify.annotations.NullMarked;
