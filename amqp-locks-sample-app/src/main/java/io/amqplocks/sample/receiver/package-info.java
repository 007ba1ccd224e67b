/** The role that takes uploads, and counts at its own end how many come in at once. */
@NullMarked
package io.amqplocks.sample.receiver;

import org.jspecify.annotations.NullMarked;
