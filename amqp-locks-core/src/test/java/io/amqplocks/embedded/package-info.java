/** The locks on the broker that runs in a JVM. */
@NullMarked
package io.amqplocks.embedded;

import org.jspecify.annotations.NullMarked;
