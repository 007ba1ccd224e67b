package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {

  private final StringBuilder order = new StringBuilder();

  private Timed side(char name, long nanos) {
    return () -> {
      order.append(name);
      return nanos;
    };
  }

  @Test
  void eachRoundBeginsWithAnother() throws Exception {
    List<Samples> samples = Turns.take(Duration.ZERO, List.of(side('a', 1), side('b', 2)));
    // Two rounds to warm up, then the least that counts.
    assertThat(order).asString().isEqualTo("abba" + "abbaabbaab");
    assertThat(samples).extracting(Samples::count).containsExactly(5, 5);
    assertThat(samples).extracting(Samples::median).containsExactly(1.0, 2.0);
  }
}
