package io.amqplocks.internal.wakeup;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WaiterPresenceTest {

  private final WaiterPresence presence = new WaiterPresence();

  @Test
  void nobodyIsThoughtToWaitBeforeOneWordWasHeard() {
    assertThat(presence.isHeard("q")).isFalse();
    presence.notified("q");
    assertThat(presence.isHeard("q")).as("it may come back still").isFalse();
    presence.notified("q");
    assertThat(presence.isHeard("q")).isTrue();
    assertThat(presence.isHeard("other")).isFalse();
  }

  @Test
  void whoSpeaksToNobodyNeedNotBePolite() {
    for (int i = 0; i < 5; i++) {
      presence.notified("q");
      assertThat(presence.isHeard("q")).isFalse();
      presence.returned("q");
      assertThat(presence.isHeard("q")).isFalse();
    }
  }

  @Test
  void whenThoseWhoWaitedHaveGoneItIsKnownByTheNextNotification() {
    presence.notified("q");
    presence.notified("q");
    presence.returned("q");
    assertThat(presence.isHeard("q")).isFalse();
    presence.notified("q");
    assertThat(presence.isHeard("q")).isFalse();
  }
}
