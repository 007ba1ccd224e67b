package io.amqplocks.spring.internal.async;

import org.jspecify.annotations.Nullable;

/**
 * Work that brings something and may throw anything.
 *
 * @param <T> what it brings
 */
@FunctionalInterface
public interface ThrowingSupplier<T extends @Nullable Object> {

  /** Does the work. */
  T get() throws Throwable;
}
