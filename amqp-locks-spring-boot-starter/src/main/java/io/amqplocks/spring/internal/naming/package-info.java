/** How semaphores, mutexes and the keys of both are named, whatever their algorithms. */
@NullMarked
package io.amqplocks.spring.internal.naming;

import org.jspecify.annotations.NullMarked;
