package io.amqplocks.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.io.File;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LockKeysTest {

  private final LockKeys keys = new LockKeys("app");

  @Test
  @SuppressWarnings("NullAway") // As code without checks may call it.
  void aRegistryWithoutLocksIsRefused() {
    assertThatThrownBy(() -> new AmqpLockRegistry(null, "app", Duration.ofMinutes(5)))
        .isInstanceOf(NullPointerException.class);
  }

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

  private enum Shop {
    NORTH;

    @Override
    public String toString() {
      return "Shop" + System.identityHashCode(this);
    }
  }

  @Test
  void valuesHaveTheirTextAndConstantsTheirNames() {
    assertThat(keys.name(new BigDecimal("1.50"))).isEqualTo("app:1.50");
    assertThat(keys.name(true)).isEqualTo("app:true");
    assertThat(keys.name('x')).isEqualTo("app:x");
    assertThat(keys.name(LocalDate.of(2026, 11, 23))).isEqualTo("app:2026-11-23");
    assertThat(keys.name(Duration.ofSeconds(5))).isEqualTo("app:PT5S");
    assertThat(keys.name(URI.create("urn:a"))).isEqualTo("app:urn:a");
    assertThat(keys.name(new File("/a/b"))).isEqualTo("app:/a/b");
    assertThat(keys.name(Path.of("/a/b"))).isEqualTo("app:/a/b");
    assertThat(keys.name(Shop.NORTH)).isEqualTo("app:NORTH");
  }

  @SuppressWarnings("ArrayRecordComponent")
  private record WithArray(byte[] bytes) {}

  static Stream<Object> differing() {
    return Stream.of(
        new Object(),
        new byte[] {1},
        Set.of("a", "b"),
        List.of(new byte[] {1}),
        Map.of("a", new Object()),
        Optional.of(new Object()),
        new WithArray(new byte[] {1}),
        new AtomicReference<>("a"),
        2.0E23, // 1.9999999999999998E23 before JDK 19
        1.5f,
        Thread.currentThread());
  }

  @ParameterizedTest
  @MethodSource("differing")
  void whatDiffersBetweenProcessesIsNoKey(Object key) {
    assertThatThrownBy(() -> keys.name(key))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("'app'")
        .hasMessageContaining(key.getClass().getName())
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
