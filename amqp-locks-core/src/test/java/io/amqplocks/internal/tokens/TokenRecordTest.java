package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.TokenQueueType;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenRecordTest {

  private static final TokenRecord MADE =
      TokenRecord.BLANK.reserved(1, 29_876_543).moved(TokenQueueType.QUORUM, 5, 4);

  @Test
  void isWrittenAsPeopleReadIt() {
    assertThat(MADE.resized(6).adding(List.of(6), 29_876_601).withdrawing(List.of(2)))
        .hasToString(
            "version 6 generation 1 of 1 quorum slots 6 epoch 29876601 on RabbitMQ 4"
                + " tokens 1@29876543 3-5@29876543 adding 6@29876601 withdrawing 2@29876543");
    assertThat(TokenRecord.BLANK)
        .hasToString(
            "version 1 generation 0 of 0 classic slots 0 epoch 0 on RabbitMQ 0"
                + " tokens none adding none withdrawing none");
  }

  @Test
  void isReadAsItWasWritten() {
    TokenRecord changed = MADE.withdrawing(List.of(1, 4)).withdrawn(List.of(4));
    for (TokenRecord record :
        List.of(TokenRecord.BLANK, MADE, changed, changed.destroyed(), changed.resized(10_000))) {
      assertThat(TokenRecord.parse(record.toString())).contains(record);
    }
  }

  /** As after growing by one so many times: no two slots have the same epoch. */
  @Test
  void anyNumberOfEpochsIsRead() {
    TreeMap<Integer, Long> epochs = new TreeMap<>();
    for (int slot = 1; slot <= 10_000; slot++) {
      epochs.put(slot, 29_000_000L + slot);
    }
    TokenSet all = new TokenSet(epochs);
    TokenRecord record =
        new TokenRecord(
            9, 1, 1, TokenQueueType.QUORUM, 10_000, 29_010_000, 4, all, TokenSet.NONE, all);
    assertThat(TokenRecord.parse(record.toString())).contains(record);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "resource", "slot 1 epoch 2 on RabbitMQ 4", "version 1"})
  void whatIsNoneOfOursIsNoRecord(String text) {
    assertThat(TokenRecord.parse(text)).isEmpty();
    assertThat(TokenRecord.parse(MADE + " and more")).isEmpty();
    assertThat(TokenRecord.parse(MADE.toString().replace("none", "x"))).isEmpty();
  }

  @Test
  void theHighestVersionCounts() {
    assertThat(
            TokenRecords.newest(
                List.of(MADE.toString(), MADE.resized(9).toString(), "x", MADE.toString())))
        .contains(MADE.resized(9));
    assertThat(TokenRecords.newest(List.of("x"))).isEmpty();
  }

  @Test
  void aTokenThatMayBeThereTakesThePlaceOfOneThatIs() {
    TokenRecord unsettled = MADE.withdrawing(List.of(2)).adding(List.of(7), 29_999_999);
    assertThat(unsettled.unsettled()).isEqualTo(2);
    assertThat(unsettled.resized(6).freeSlots()).isEmpty();
    assertThat(unsettled.resized(8).freeSlots()).containsExactly(6, 8);
    // It is seen, and so it is there after all.
    assertThat(unsettled.present(List.of(2)).tokens().size()).isEqualTo(5);
    assertThat(unsettled.present(List.of(2)).tokens().has(new TokenContent(2, 29_876_543, 4)))
        .isTrue();
    assertThat(unsettled.members().has(new TokenContent(2, 29_876_542, 4))).isFalse();
  }

  /** If the record is lost, the next one begins behind all that it named. */
  @Test
  void generationsBeginWithTheClock() {
    TokenRecord begun = TokenRecord.BLANK.begun(29_000_000);
    assertThat(begun.reserved()).isEqualTo(28_999_999);
    assertThat(begun.exists()).isFalse();
    assertThat(TokenRecord.parse(begun.reserved(29_000_000, 5).toString()))
        .contains(begun.reserved(29_000_000, 5));
  }

  @Test
  void epochsRiseWhateverTheClockSays() {
    assertThat(MADE.nextEpoch(5)).isEqualTo(29_876_544);
    assertThat(MADE.nextEpoch(30_000_000)).isEqualTo(30_000_000);
    assertThat(MADE.destroyed().deleted().epoch()).isEqualTo(29_876_543);
    assertThat(MADE.destroyed().deleted().reserved()).isEqualTo(1);
  }
}
