/** The demo behind bin/demo: starts a broker and the processes, lets them work, and counts. */
@NullMarked
package io.amqplocks.sample.demo;

import org.jspecify.annotations.NullMarked;
