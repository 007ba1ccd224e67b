package io.amqplocks.spring.internal.naming;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockSettings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyedNameTest {

  @Test
  void keysMakeDifferentNamesThatAreAllowed() {
    String hash = KeyedName.of("n", "x".repeat(300)).substring(2);
    List<String> keys =
        List.of(
            "a",
            "A",
            "a:b",
            ":",
            "a\nb",
            "a\tb",
            "\ud800",
            "\ud801",
            "ä",
            "x".repeat(300),
            "x".repeat(301),
            "x".repeat(LockName.MAX_BYTES - 2),
            hash);
    List<String> names = keys.stream().map(key -> KeyedName.of("n", key)).toList();
    assertThat(names).doesNotHaveDuplicates().allMatch(name -> LockName.of(name) != null);
    assertThat(names).startsWith("n:a", "n:A", "n:a:b", "n::");
    assertThat(hash).startsWith("#sha256-");
    assertThat(names)
        .allSatisfy(name -> assertThat(LockName.of(name).withoutKey()).contains(LockName.of("n")));
  }

  @Test
  void theLongestNameHasRoomForAHash() {
    String longest = "n".repeat(KeyedName.MAX_BYTES);
    assertThat(KeyedName.of(longest, "1\n")).hasSize(LockName.MAX_BYTES);
    assertThatExceptionOfType(LockException.Invalid.class)
        .isThrownBy(() -> KeyedName.of(longest + "n", "key"))
        .withMessageContaining("bytes in UTF-8 at most");
  }

  @Test
  void aKeysLockHasTheSettingsOfTheName() {
    LockCatalog catalog = new LockCatalog(Duration.ofSeconds(1));
    catalog.addKeyed(
        LockSettings.annotated(FamilyId.mutex("m"), "a method").algorithm(MutexAlgorithm.TOKENS));
    catalog.add(
        LockSettings.configured(FamilyId.semaphore("s")).slots(4).maxWait(Duration.ofSeconds(7)));
    catalog.add(LockSettings.configured(FamilyId.semaphore("s:own")).slots(9));
    assertThat(catalog.mutex("m:1").kind()).isEqualTo(LockKind.FENCED_MUTEX);
    LockId keyed = catalog.semaphore("s:1");
    assertThat(catalog.slots(keyed)).isEqualTo(4);
    assertThat(catalog.waitFor(FamilyId.of(keyed))).isEqualTo(Duration.ofSeconds(7));
    assertThat(catalog.known(keyed)).isEqualTo(LockId.tokenSemaphore("s"));
    assertThat(catalog.slots(catalog.semaphore("s:own"))).isEqualTo(9);
    assertThat(catalog.slots(catalog.semaphore("t:1"))).isZero();
    assertThat(catalog.isUsed(LockId.mutex("m"))).isFalse();
    assertThat(catalog.isUsed(LockId.slotSemaphore("s"))).isTrue();
  }
}
