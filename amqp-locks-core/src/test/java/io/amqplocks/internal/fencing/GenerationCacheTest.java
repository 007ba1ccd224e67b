package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.fencing.GenerationCache.Slot;
import io.amqplocks.lock.LockId;
import org.junit.jupiter.api.Test;

class KnownGenerationsTest {

  @Test
  void rememberNoMoreThanSoManyWhateverNamesAreMadeUp() {
    GenerationCache known = new GenerationCache();
    for (int i = 1; i <= 3 * GenerationCache.MOST; i++) {
      Slot slot = new Slot(LockId.mutex("order-" + i), 1);
      known.put(slot, i);
      assertThat(known.of(slot)).hasValue(i);
      assertThat(known.size()).isLessThanOrEqualTo(GenerationCache.MOST);
    }
    assertThat(known.of(new Slot(LockId.mutex("order-1"), 1))).isEmpty();
  }
}
