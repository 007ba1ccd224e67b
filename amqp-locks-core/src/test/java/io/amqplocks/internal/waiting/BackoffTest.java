package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BackoffTest {

  @Test
  void staysBetweenBaseAndCapAndGrows() {
    Backoff backoff = new Backoff(new Random(1));
    long[] pauses = LongStream.generate(backoff::next).limit(1000).toArray();
    assertThat(LongStream.of(pauses).min().orElseThrow())
        .isGreaterThanOrEqualTo(Backoff.BASE.toNanos());
    assertThat(LongStream.of(pauses).max().orElseThrow())
        .isLessThanOrEqualTo(Backoff.CAP.toNanos());
    assertThat(pauses[0]).isLessThanOrEqualTo(3 * Backoff.BASE.toNanos());
    assertThat(LongStream.of(pauses).skip(50).average().orElseThrow())
        .isGreaterThan(Backoff.CAP.toNanos() / 4.0);
  }

  @Test
  void differsBetweenProcesses() {
    assertThat(new Backoff(new Random(1)).next()).isNotEqualTo(new Backoff(new Random(2)).next());
  }
}
