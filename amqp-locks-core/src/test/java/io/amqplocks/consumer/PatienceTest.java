package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PatienceTest {

  @Test
  void eachTimeTheBrokerHasTwiceAsLongUpToAMinute() {
    assertThat(Stream.iterate(Patience.FIRST, Patience::longer).limit(7))
        .extracting(each -> each.time().toSeconds())
        .containsExactly(3L, 6L, 12L, 24L, 48L, 60L, 60L);
  }
}
