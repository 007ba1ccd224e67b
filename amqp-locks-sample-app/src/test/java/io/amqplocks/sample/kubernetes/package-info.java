/** The sample in containers: the manifests, the Compose file, and what they make of it. */
@NullMarked
package io.amqplocks.sample.kubernetes;

import org.jspecify.annotations.NullMarked;
