/** Spring Boot's entry to locks in memory. */
@NullMarked
package io.amqplocks.inmemory.autoconfigure;

import org.jspecify.annotations.NullMarked;
