package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.QueueNames;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
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
            9,
            1,
            1,
            TokenQueueType.QUORUM,
            10_000,
            29_010_000,
            4,
            all,
            TokenSet.NONE,
            TokenSet.NONE);
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
            records(30_000_000)
                .newest(List.of(MADE.toString(), MADE.resized(9).toString(), "x", MADE.toString())))
        .contains(MADE.resized(9));
    assertThat(records(30_000_000).newest(List.of("x"))).isEmpty();
  }

  private static TokenRecords records(long minutes) {
    Clock clock = Clock.fixed(Instant.ofEpochSecond(60 * minutes), ZoneOffset.UTC);
    return new TokenRecords(new QueueNames("p."), clock);
  }

  /** Each was millions of entries; 4 kB took 15 s. */
  @Tag("defect-S4")
  @Test
  void runsThatDoNotRiseOrEndTooHighAreNoRecord() {
    String many = String.join(" ", Collections.nCopies(300, "1-99999@5"));
    for (String set :
        List.of(many, "1-10001@5", "0@5", "5-4@5", "2@5 2@6", "3@5 1@5", "1-4@5 3@5", "1@0")) {
      assertThat(TokenSet.parse(set)).as(set).isEmpty();
      assertThat(TokenRecord.parse(MADE.toString().replace("none", set))).as(set).isEmpty();
    }
    assertThat(TokenSet.parse("1-9999@5 10000@6").orElseThrow().size()).isEqualTo(10_000);
  }

  @Tag("defect-S4")
  @Test
  void aRecordThatContradictsItselfIsNone() {
    String made = MADE.toString();
    for (String wrong :
        List.of(
            made.replace("slots 5", "slots 10001"),
            made.replace("1-5@29876543", "1-5@29876544"),
            made.replace("adding none", "adding 5@29876543"),
            made.replace("generation 1 of 1", "generation 3 of 1"),
            made.replace("adding none", "adding " + "1@5 ".repeat(200_000) + "1@5"))) {
      assertThat(wrong).isNotEqualTo(made);
      assertThat(TokenRecord.parse(wrong)).isEmpty();
    }
  }

  @Tag("defect-S4")
  @Test
  void numbersThatLeaveNoneAboveThemAreNotBelieved() {
    String made = MADE.toString();
    for (String wrong :
        List.of(
            made.replace("version 3", "version 999999999999999999"),
            made.replace("of 1", "of 999999999").replace("version 3", "version 9"),
            made.replace("epoch 29876543", "epoch 67108863").replace("version 3", "version 9"))) {
      assertThat(TokenRecord.parse(wrong)).isPresent();
      List<String> both = List.of(wrong, made);
      assertThat(records(29_900_000).newest(both)).contains(MADE);
      assertThat(records(29_900_000).doubt(both)).isPresent();
      assertThat(records(29_900_000).newest(List.of(wrong))).isEmpty();
    }
    assertThat(records(29_900_000).doubt(List.of(made))).isEmpty();
    // A clock that says 1970 believes nothing, instead of anything.
    assertThat(records(0).newest(List.of(made))).isEmpty();
  }

  @Tag("defect-S4")
  @Test
  void aTokenIsOneOfTheRecordsOrNone() {
    TokenRecord record = MADE.withdrawing(List.of(2)).adding(List.of(7), 29_999_999);
    assertThat(record.has(new TokenContent(1, 29_876_543, 4))).isTrue();
    assertThat(record.has(new TokenContent(2, 29_876_543, 4))).isTrue();
    assertThat(record.has(new TokenContent(7, 29_999_999, 4))).isTrue();
    assertThat(record.has(new TokenContent(1, 29_876_542, 4))).isFalse();
    assertThat(record.has(new TokenContent(6, 29_876_543, 4))).isFalse();
    assertThat(record.has(new TokenContent(1, 29_876_543, 3))).isFalse();
    assertThat(TokenContent.parse("slot 10001 epoch 5 on RabbitMQ 4")).isEmpty();
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
