package io.amqplocks.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FencingTokenTest {

  @Test
  void theNumberOrdersByEpochAndThenByN() {
    long[] epochs = {1, 2, 29_876_543, FencingToken.MAX_EPOCH};
    long[] counts = {0, 1, 20, 21, FencingToken.MAX_N - 1, FencingToken.MAX_N};
    List<Long> numbers = new ArrayList<>();
    for (long epoch : epochs) {
      for (long n : counts) {
        FencingToken token = new FencingToken(1, epoch, n);
        assertThat(FencingToken.epochOf(token.number())).isEqualTo(epoch);
        numbers.add(token.number());
      }
    }
    assertThat(numbers).isSorted().doesNotHaveDuplicates().allMatch(number -> number > 0);
    assertThat(numbers.get(numbers.size() - 1)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theEpochLastsALongTime() {
    long end = Instant.parse("2097-01-01T00:00:00Z").getEpochSecond() / 60;
    assertThat(FencingToken.MAX_EPOCH).isGreaterThan(end);
  }

  @Test
  void tokensOfOneSlotHaveAnOrderAndOthersNone() {
    FencingToken token = new FencingToken(2, 5, 7);
    assertThat(new FencingToken(2, 6, 0).isAfter(token)).isTrue();
    assertThat(token.isAfter(new FencingToken(2, 6, 0))).isFalse();
    assertThat(token.isAfter(token)).isFalse();
    assertThatThrownBy(() -> token.isAfter(new FencingToken(1, 5, 6)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("slots");
  }

  @Test
  void refusesWhatDoesNotFit() {
    long[][] wrong = {
      {0, 1, 1},
      {1, 0, 1},
      {1, FencingToken.MAX_EPOCH + 1, 1},
      {1, 1, -1},
      {1, 1, FencingToken.MAX_N + 1}
    };
    for (long[] each : wrong) {
      assertThatThrownBy(() -> new FencingToken((int) each[0], each[1], each[2]))
          .isInstanceOf(LockException.Invalid.class);
    }
  }
}
