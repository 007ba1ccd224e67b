package io.amqplocks.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class EffortTest {

  @Test
  void sizesRiseToTheMost() {
    assertThat(Effort.sizes(1)).containsExactly(1);
    assertThat(Effort.sizes(10)).containsExactly(1, 10);
    assertThat(Effort.sizes(250)).containsExactly(1, 10, 30, 100, 250);
    assertThat(Effort.sizes(1_000)).containsExactly(1, 10, 30, 100, 300, 1_000);
    assertThat(Effort.sizes(10_000)).containsExactly(1, 100, 300, 1_000, 3_000, 10_000);
  }

  @Test
  void theBrokerIsWatchedAtThreeSizesAtLeast() {
    Effort effort = Effort.of(false, 1_000);
    assertThat(Effort.sizes(1_000).stream().map(size -> effort.rest(size, 1_000)))
        .filteredOn(rest -> !rest.equals(Duration.ZERO))
        .hasSize(3);
  }
}
