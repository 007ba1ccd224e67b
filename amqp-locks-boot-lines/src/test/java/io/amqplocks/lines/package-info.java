/** The starter on each line of Spring Boot. */
@NullMarked
package io.amqplocks.lines;

import org.jspecify.annotations.NullMarked;
