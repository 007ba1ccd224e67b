package io.amqplocks.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FencingTokenTest {

  /** The draws of a counter that fit into one minute. */
  private static final long DRAWS_A_MINUTE = 8_388_608;

  @Test
  void theNumberOrdersByEpochThenByNThenByHandOvers() {
    long[] epochs = {1, 2, 29_876_543, FencingToken.MAX_EPOCH};
    long[] counts = {0, 1, 20, 21, DRAWS_A_MINUTE - 2, DRAWS_A_MINUTE - 1};
    int[] handOvers = {0, 1, 10_000, FencingToken.MAX_HAND_OVERS};
    List<Long> numbers = new ArrayList<>();
    for (long epoch : epochs) {
      for (long n : counts) {
        for (int each : handOvers) {
          FencingToken token = new FencingToken(1, epoch, n).afterHandOvers(each);
          assertThat(token).isEqualTo(new FencingToken(1, epoch, n, each));
          assertThat(FencingToken.epochOf(token.number())).isEqualTo(epoch);
          numbers.add(token.number());
        }
      }
    }
    assertThat(numbers).isSorted().doesNotHaveDuplicates().allMatch(number -> number > 0);
  }

  /** Otherwise a counter that was drawn from for years would be used up. */
  @Test
  void moreDrawsTakeTheNumbersOfLaterMinutes() {
    FencingToken last = new FencingToken(1, 100, DRAWS_A_MINUTE - 1, FencingToken.MAX_HAND_OVERS);
    assertThat(new FencingToken(1, 100, DRAWS_A_MINUTE).number()).isEqualTo(last.number() + 1);
    assertThat(new FencingToken(1, 101, 0).number()).isEqualTo(last.number() + 1);
    assertThat(FencingToken.epochOf(new FencingToken(1, 100, 7 * DRAWS_A_MINUTE).number()))
        .isEqualTo(107);
  }

  @Test
  void theHighestOfAllIsANumberToo() {
    FencingToken highest =
        new FencingToken(
            1, FencingToken.MAX_EPOCH, FencingToken.MAX_N, FencingToken.MAX_HAND_OVERS);
    assertThat(highest.isAfter(new FencingToken(1, FencingToken.MAX_EPOCH, FencingToken.MAX_N)))
        .isTrue();
    assertThat(highest.number()).isPositive();
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
      {0, 1, 1, 0},
      {1, 0, 1, 0},
      {1, FencingToken.MAX_EPOCH + 1, 1, 0},
      {1, 1, -1, 0},
      {1, 1, FencingToken.MAX_N + 1, 0},
      {1, 1, 1, -1},
      {1, 1, 1, FencingToken.MAX_HAND_OVERS + 1}
    };
    for (long[] each : wrong) {
      assertThatThrownBy(() -> new FencingToken((int) each[0], each[1], each[2], (int) each[3]))
          .isInstanceOf(LockException.Invalid.class);
    }
  }
}
