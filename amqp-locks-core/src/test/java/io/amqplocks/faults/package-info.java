/** Locks of any kind when holders, brokers, nodes or networks fail. */
@NullMarked
package io.amqplocks.faults;

import org.jspecify.annotations.NullMarked;
