/**
 * What a Spring application uses: the annotations, {@link io.amqplocks.spring.LockTemplate} and the
 * event that tells of a lost lease.
 */
@NullMarked
package io.amqplocks.spring;

import org.jspecify.annotations.NullMarked;
