/** What the tests of the core share. */
@NullMarked
package io.amqplocks.support;

import org.jspecify.annotations.NullMarked;
