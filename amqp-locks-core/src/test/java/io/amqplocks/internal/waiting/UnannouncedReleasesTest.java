package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnannouncedReleasesTest {

  private static final long MEMORY = UnannouncedReleases.MEMORY.toNanos();

  private final UnannouncedReleases seen = new UnannouncedReleases();

  /** A holder may have died, or a look may have been faster than its notification. */
  @Test
  void oneProvesNothing() {
    seen.unannounced("a", 100);
    assertThat(seen.areExpected("a", 100)).isFalse();
    seen.unannounced("b", 100);
    seen.unannounced("a", 100 + MEMORY);
    assertThat(seen.areExpected("a", 100 + MEMORY)).isFalse();
  }

  @Test
  void twoInARowAreBelievedForSomeTime() {
    seen.unannounced("a", 100);
    seen.unannounced("a", 200);
    assertThat(seen.areExpected("a", 200)).isTrue();
    assertThat(seen.areExpected("b", 200)).isFalse();
    assertThat(seen.areExpected("a", 199 + MEMORY)).isTrue();
    assertThat(seen.areExpected("a", 200 + MEMORY)).isFalse();
    seen.unannounced("a", 300);
    assertThat(seen.areExpected("a", 200 + MEMORY)).isTrue();
  }

  @Test
  void anAnnouncedOneIsBelievedAtOnce() {
    seen.unannounced("a", 100);
    seen.announced("a");
    seen.unannounced("a", 200);
    assertThat(seen.areExpected("a", 200)).isFalse();
    seen.unannounced("a", 300);
    assertThat(seen.areExpected("a", 300)).isTrue();
    seen.announced("a");
    assertThat(seen.areExpected("a", 300)).isFalse();
  }
}
