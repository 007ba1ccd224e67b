package io.amqplocks.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class LineTest {

  @Test
  void findsTheLineOnWhichThePointsAre() {
    Line line = Line.through(List.of(new Point(1, 12), new Point(10, 30), new Point(300, 610)));
    assertThat(line.base()).isCloseTo(10, within(1e-9));
    assertThat(line.each()).isCloseTo(2, within(1e-9));
    assertThat(line.at(1_000)).isCloseTo(2_010, within(1e-9));
  }

  @Test
  void findsTheLineThatDiffersLeastFromOthers() {
    Line line = Line.through(List.of(new Point(1, 1), new Point(2, 2), new Point(3, 2)));
    assertThat(line.each()).isCloseTo(0.5, within(1e-9));
    assertThat(line.base()).isCloseTo(2 / 3.0, within(1e-9));
  }

  @Test
  void needsTwoNumbers() {
    assertThatThrownBy(() -> Line.through(List.of(new Point(3, 1), new Point(3, 2))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Line.through(List.of())).isInstanceOf(IllegalArgumentException.class);
  }
}
