package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BoundedMapTest {

  private final BoundedMap<String, Integer> map = new BoundedMap<>();

  @Test
  void remembersNoMoreThanSoManyWhateverNamesAreMadeUp() {
    for (int i = 1; i <= 3 * BoundedMap.MOST; i++) {
      int value = i;
      String key = "order-" + i;
      if (i % 2 == 0) {
        map.put(key, value);
      } else {
        assertThat(map.compute(key, (same, last) -> value)).isEqualTo(value);
      }
      assertThat(map.get(key)).isEqualTo(value);
      assertThat(map.size()).isLessThanOrEqualTo(BoundedMap.MOST);
    }
    assertThat(map.get("order-1")).isNull();
  }

  @Test
  void changingOneThatIsRememberedForgetsNone() {
    for (int i = 1; i <= BoundedMap.MOST; i++) {
      map.put("order-" + i, i);
    }
    map.put("order-1", 0);
    map.compute("order-2", (same, last) -> last == null ? -1 : last + 1);
    map.computeIfPresent("order-3", (same, last) -> last + 1);
    map.computeIfPresent("another", (same, last) -> last + 1);
    assertThat(map.size()).isEqualTo(BoundedMap.MOST);
    assertThat(List.of(map.get("order-1"), map.get("order-2"), map.get("order-3")))
        .containsExactly(0, 3, 4);
    assertThat(map.get("another")).isNull();
  }

  @Test
  void forgetsWhatItIsToldTo() {
    map.put("a", 1);
    map.remove("a", 2);
    assertThat(map.get("a")).isEqualTo(1);
    map.remove("a", 1);
    assertThat(map.get("a")).isNull();
    map.put("a", 1);
    map.remove("a");
    assertThat(map.get("a")).isNull();
    map.put("a", 1);
    map.computeIfPresent("a", (same, last) -> null);
    assertThat(map.size()).isZero();
  }

  /** Each thread may exceed the bound by the one entry that it adds. */
  @Test
  void threadsThatAddTogetherExceedTheBoundByOneEach() {
    int threads = 4;
    IntStream.range(0, threads)
        .parallel()
        .forEach(
            thread -> {
              for (int i = 0; i < BoundedMap.MOST; i++) {
                map.put(thread + "-" + i, i);
              }
            });
    assertThat(map.size()).isLessThanOrEqualTo(BoundedMap.MOST + threads);
  }
}
