/** What the bytecode of an application's classes says. */
@NullMarked
package io.amqplocks.spring.internal.bytecode;

import org.jspecify.annotations.NullMarked;
