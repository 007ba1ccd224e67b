package io.amqplocks.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LockKeysTest {

  private final LockKeys keys = new LockKeys("app");

  @Test
  void aNameShowsItsKeyWhereItCan() {
    assertThat(keys.name("order-17")).isEqualTo("app:order-17");
    assertThat(keys.name("a:b c/é")).isEqualTo("app:a:b c/é");
    assertThat(keys.name(17L)).isEqualTo("app:17");
    UUID id = UUID.randomUUID();
    assertThat(keys.name(id)).isEqualTo("app:" + id);
  }

  @Test
  void anyTextHasAValidNameOfItsOwn() {
    String hashOfA = keys.name("a".repeat(500)).substring("app:".length());
    Set<String> names = new HashSet<>();
    List<String> texts =
        List.of("", "\n", "\r", "a".repeat(500), "a".repeat(501), "\ud800", "\udc00", "?", hashOfA);
    for (String text : texts) {
      String name = keys.name(text);
      assertThat(LockName.of(name).value()).startsWith("app:");
      assertThat(keys.name(text)).isEqualTo(name);
      names.add(name);
    }
    assertThat(names).hasSize(texts.size());
  }

  @Test
  void whatDiffersBetweenProcessesIsNoKey() {
    assertThatThrownBy(() -> keys.name(new Object())).isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> keys.name(new byte[] {1}))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("use a String");
  }

  @Test
  @SuppressWarnings("NullAway") // Callers without NullAway can pass it.
  void nullIsNoKey() {
    assertThatThrownBy(() -> keys.name(null))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("app");
  }

  @Test
  void aRegistryKeyLeavesRoomForItsKeys() {
    new LockKeys("r".repeat(128)).name("\n");
    assertThatThrownBy(() -> new LockKeys("r".repeat(129)))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("128");
    assertThatThrownBy(() -> new LockKeys("a:b")).isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> new LockKeys("")).isInstanceOf(LockException.Invalid.class);
  }
}
