package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class FenceCounterTest {

  @Test
  void aLockWithoutAKeyHasACounterForEachSlot() {
    assertThat(FenceCounter.of(LockId.slotSemaphore("images"), 3))
        .isEqualTo(new FenceCounter(LockKind.SLOT_SEMAPHORE, LockName.of("images"), false, 3));
    assertThat(FenceCounter.of(LockId.mutex(":a"), 1).shared()).isFalse();
  }

  /** The vectors of PROTOCOL. Other numbers than these would turn the tokens of a key back. */
  @ParameterizedTest
  @CsvSource({
    "orders:4711, 1, 2",
    "orders:4711, 2, 3",
    "orders:4712, 1, 12",
    "orders:3, 1, 13",
    "orders:3, 4, 16",
    "orders:3, 5, 1",
    "straße:größe, 1, 9",
    "a:b:c, 1, 1",
  })
  void theCounterOfAKeyIsWhatTheProtocolSays(String name, int slot, int number) {
    FenceCounter counter = FenceCounter.of(LockId.slotSemaphore(name), slot);
    assertThat(counter.number()).isEqualTo(number);
    assertThat(counter.shared()).isTrue();
    assertThat(counter.name().value()).isEqualTo(name.substring(0, name.indexOf(':')));
    assertThat(FenceCounter.sharedBy(LockId.slotSemaphore(counter.name().value())))
        .hasSize(16)
        .contains(counter);
  }

  static Stream<IntFunction<String>> kindsOfKeys() {
    Random random = new Random(1);
    return Stream.of(
        Integer::toString,
        i -> Integer.toString(1_000_000 + 10 * i),
        i -> "%08x".formatted(16 * i),
        i -> "customer-" + i + "/order",
        i -> new UUID(random.nextLong(), random.nextLong()).toString());
  }

  /** Of 1,600 keys a counter has 100; by chance alone, 50 and 150 are five deviations away. */
  @ParameterizedTest
  @MethodSource("kindsOfKeys")
  void keysAreSpreadEvenly(IntFunction<String> key) {
    Map<Integer, Integer> keys = new HashMap<>();
    for (int i = 0; i < 1_600; i++) {
      FenceCounter counter = FenceCounter.of(LockId.mutex("order:" + key.apply(i)), 1);
      keys.merge(counter.number(), 1, Integer::sum);
    }
    assertThat(keys.values()).hasSize(16).allMatch(count -> count > 50 && count < 150);
  }

  @Test
  void kindsAndNamesShareNothing() {
    assertThat(
            List.of(
                FenceCounter.of(LockId.mutex("a:1"), 1).toString(),
                FenceCounter.of(LockId.persistentMutex("a:1"), 1).toString(),
                FenceCounter.of(LockId.mutex("b:1"), 1).toString(),
                FenceCounter.of(LockId.mutex("a"), 1).toString()))
        .doesNotHaveDuplicates();
  }
}
