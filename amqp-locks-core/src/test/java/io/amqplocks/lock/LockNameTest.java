package io.amqplocks.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockNameTest {

  @ParameterizedTest
  @ValueSource(strings = {"a", "images", "with space", "a.b.slot.1", "Ünïcödé", "🔒", "{order:1}"})
  void takesWhatAQueueNameTakes(String name) {
    assertThat(LockName.of(name).value()).isEqualTo(name);
  }

  @Test
  void countsBytesAndNotCharacters() {
    assertThat(LockName.of("a".repeat(200)).value()).hasSize(200);
    assertThat(LockName.of("ü".repeat(100)).value()).hasSize(100);
    assertThatThrownBy(() -> LockName.of("a".repeat(201)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("201 bytes")
        .hasMessageContaining("200");
    assertThatThrownBy(() -> LockName.of("ü".repeat(101)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("202 bytes");
    assertThatThrownBy(() -> LockName.of("🔒".repeat(51)))
        .isInstanceOf(LockException.Invalid.class);
  }

  @Test
  void refusesWhatCannotBeAName() {
    assertThatThrownBy(() -> LockName.of(""))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("empty");
    assertThatThrownBy(() -> LockName.of("a\nb"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("control character");
    assertThatThrownBy(() -> LockName.of("a\ud800b"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("surrogate");
  }

  @Test
  void theFirstColonDividesNameAndKey() {
    assertThat(LockName.of("orders:47:11").withoutKey()).contains(LockName.of("orders"));
    assertThat(LockName.of("orders:").withoutKey()).contains(LockName.of("orders"));
    assertThat(LockName.of("orders").withoutKey()).isEmpty();
    assertThat(LockName.of(":4711").withoutKey()).isEmpty();
  }

  @Test
  void anIdSaysWhichLock() {
    assertThat(LockId.slotSemaphore("images")).hasToString("slot semaphore 'images'");
    assertThat(LockId.mutex("images")).hasToString("mutex 'images'");
    assertThat(LockId.mutex("images")).isNotEqualTo(LockId.slotSemaphore("images"));
  }
}
