package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SamplesTest {

  private final Samples samples = new Samples();

  @Test
  void aPercentileIsOneOfTheValues() {
    for (int i = 100; i >= 1; i--) {
      samples.add(i);
    }
    assertThat(samples.percentile(0)).isEqualTo(1);
    assertThat(samples.median()).isEqualTo(50);
    assertThat(samples.percentile(99)).isEqualTo(99);
    assertThat(samples.percentile(100)).isEqualTo(100);
  }

  @Test
  void oneOutlierDoesNotMoveTheMedian() {
    samples.add(3);
    samples.add(1_000_000);
    samples.add(2);
    assertThat(samples.median()).isEqualTo(3);
  }

  @Test
  void nothingMeasuredIsNotZero() {
    assertThat(samples.median()).isNaN();
  }

  @Test
  void holdsAnyNumber() {
    for (int i = 0; i < 10_000; i++) {
      samples.add(7);
    }
    assertThat(samples.count()).isEqualTo(10_000);
    assertThat(samples.percentile(100)).isEqualTo(7);
  }
}
