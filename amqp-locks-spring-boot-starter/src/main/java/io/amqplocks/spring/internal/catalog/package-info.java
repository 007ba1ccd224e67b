/** What properties and annotations say of locks, and so which lock each name stands for. */
@NullMarked
package io.amqplocks.spring.internal.catalog;

import org.jspecify.annotations.NullMarked;
