package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastWordsTest {

  private final LastWords words = new LastWords();

  @Test
  void nobodyIsThoughtToWaitBeforeOneWordWasHeard() {
    assertThat(words.wereHeard("q")).isFalse();
    words.said("q");
    assertThat(words.wereHeard("q")).as("it may come back still").isFalse();
    words.said("q");
    assertThat(words.wereHeard("q")).isTrue();
    assertThat(words.wereHeard("other")).isFalse();
  }

  @Test
  void whoSpeaksToNobodyNeedNotBePolite() {
    for (int i = 0; i < 5; i++) {
      words.said("q");
      assertThat(words.wereHeard("q")).isFalse();
      words.cameBack("q");
      assertThat(words.wereHeard("q")).isFalse();
    }
  }

  @Test
  void whenThoseWhoWaitedHaveGoneItIsKnownByTheNextWord() {
    words.said("q");
    words.said("q");
    words.cameBack("q");
    assertThat(words.wereHeard("q")).isFalse();
    words.said("q");
    assertThat(words.wereHeard("q")).isFalse();
  }
}
