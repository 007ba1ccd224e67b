package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How the runs of a suite share the lines among them. */
class TurnTest {

  private static final List<String> TWO = List.of("4.3", "3.10");

  @Test
  void theOnlyRunTakesAll() {
    assertThat(Turn.parse("").of(TWO)).isEqualTo(TWO);
    assertThat(Turn.parse("1/1").of(TWO)).isEqualTo(TWO);
  }

  @Test
  void eachOfTwoRunsTakesItsOwn() {
    assertThat(Turn.parse("1/2").of(TWO)).containsExactly("4.3");
    assertThat(Turn.parse("2/2").of(TWO)).containsExactly("3.10");
  }

  /** No line is left out, none is in two runs without need, and no run is without a line. */
  @ParameterizedTest
  @CsvSource({"1,1", "1,3", "2,1", "2,2", "2,3", "3,2", "3,3", "4,3", "5,2"})
  void togetherTheyTakeAll(int lines, int runs) {
    List<Integer> all = IntStream.range(0, lines).boxed().toList();
    List<List<Integer>> taken =
        IntStream.rangeClosed(1, runs).mapToObj(number -> new Turn(number, runs).of(all)).toList();
    assertThat(taken).noneMatch(List::isEmpty);
    Stream<Integer> together = taken.stream().flatMap(List::stream);
    if (runs <= lines) {
      assertThat(together).containsExactlyInAnyOrderElementsOf(all);
    } else {
      assertThat(together.distinct()).containsExactlyInAnyOrderElementsOf(all);
    }
  }

  @Test
  void whereThereIsNoneNoRunTakesAny() {
    assertThat(Turn.parse("2/2").of(List.of())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"2", "3/2", "0/2", "first", "1/2,2/2", "1 / 2"})
  void whatIsNoRunIsRefused(String text) {
    assertThatThrownBy(() -> Turn.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theRefusalNamesTheVariable() {
    assertThatThrownBy(() -> Turn.parse("first"))
        .hasMessageContaining("AMQP_LOCKS_BROKER_TURN is \"first\"")
        .hasMessageContaining("such as 1/2");
  }
}
