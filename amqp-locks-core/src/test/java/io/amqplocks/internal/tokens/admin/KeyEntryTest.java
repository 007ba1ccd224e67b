package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.tokens.admin.KeyEntry.Look;
import io.amqplocks.lock.LockName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyEntryTest {

  @Test
  void isWhatTheProtocolSays() {
    KeyEntry first = new KeyEntry(LockName.of("customer:key 42"), null);
    assertThat(first).hasToString("key customer:key 42");
    KeyEntry looked =
        new KeyEntry(LockName.of("customer:42"), new Look(1_763_800_000, 29_396_666, 15));
    assertThat(looked)
        .hasToString("idle since 1763800000 generation 29396666 returns 15 key customer:42");
    assertThat(KeyEntry.parse(first.toString())).contains(first);
    assertThat(KeyEntry.parse(looked.toString())).contains(looked);
  }

  @ParameterizedTest
  @ValueSource(strings = {"c:a\u2028b", "c:a\u2029b", "c:a b", "c:\u00e4"})
  void isReadAsItWasWritten(String lock) {
    KeyEntry first = new KeyEntry(LockName.of(lock), null);
    assertThat(KeyEntry.parse(first.toString())).contains(first);
    KeyEntry looked = new KeyEntry(LockName.of(lock), new Look(1, 2, 3));
    assertThat(KeyEntry.parse(looked.toString())).contains(looked);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "key ",
        "customer:42",
        "idle since 1 generation 2 key customer:42",
        "idle since 1234567890123 generation 2 returns 3 key customer:42",
        "idle since -1 generation 2 returns 3 key customer:42",
        "key customer:4\n2"
      })
  void otherMessagesAreNone(String text) {
    assertThat(KeyEntry.parse(text)).isEmpty();
  }
}
