/** What a web application answers when a lock is busy or the broker is away. */
@NullMarked
package io.amqplocks.spring.internal.web;

import org.jspecify.annotations.NullMarked;
