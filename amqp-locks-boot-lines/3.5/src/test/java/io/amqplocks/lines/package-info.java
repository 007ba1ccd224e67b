/** The starter on a line of Spring Boot that is too old for it. */
@NullMarked
package io.amqplocks.lines;

import org.jspecify.annotations.NullMarked;
