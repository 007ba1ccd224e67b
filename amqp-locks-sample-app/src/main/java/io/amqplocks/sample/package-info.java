/** One application, three roles: workers that upload images, the receiver that takes them, and who reports. */
@NullMarked
package io.amqplocks.sample;

import org.jspecify.annotations.NullMarked;
