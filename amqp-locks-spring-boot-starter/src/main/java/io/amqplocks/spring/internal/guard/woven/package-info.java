/** Methods that AspectJ guards, where no proxy does. */
@NullMarked
package io.amqplocks.spring.internal.guard.woven;

import org.jspecify.annotations.NullMarked;
