/** One application, two roles: workers that upload images, and the receiver that takes them. */
@NullMarked
package io.amqplocks.sample;

import org.jspecify.annotations.NullMarked;
