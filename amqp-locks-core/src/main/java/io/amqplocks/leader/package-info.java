/**
 * Leader election on a mutex: of all processes that contend, one leads, and its successor begins
 * after it has stopped.
 */
@NullMarked
package io.amqplocks.leader;

import org.jspecify.annotations.NullMarked;
