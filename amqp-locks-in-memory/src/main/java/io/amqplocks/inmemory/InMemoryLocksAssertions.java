package io.amqplocks.inmemory;

import org.assertj.core.annotation.CheckReturnValue;
import org.jspecify.annotations.Nullable;

/**
 * The entry to assertions on {@link InMemoryLocks}. A test imports {@code assertThat} statically
 * from here, beside that of AssertJ. They need {@code assertj-core} on the class path, which this
 * module does not bring.
 */
public final class InMemoryLocksAssertions {

  private InMemoryLocksAssertions() {}

  /** Begins assertions on those locks. */
  @CheckReturnValue
  public static InMemoryLocksAssert assertThat(@Nullable InMemoryLocks actual) {
    return new InMemoryLocksAssert(actual);
  }
}
