/** Wires the locks into a Spring Boot application. */
@NullMarked
package io.amqplocks.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;
