/**
 * One application, three roles: workers that upload images, the receiver that takes them, and the
 * reporter.
 */
@NullMarked
package io.amqplocks.sample;

import org.jspecify.annotations.NullMarked;
