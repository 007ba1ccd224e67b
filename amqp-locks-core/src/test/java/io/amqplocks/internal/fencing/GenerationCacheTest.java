package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.lock.LockId;
import org.junit.jupiter.api.Test;

class GenerationCacheTest {

  @Test
  void remembersNoMoreThanSoManyWhateverNamesAreMadeUp() {
    GenerationCache known = new GenerationCache();
    for (int i = 1; i <= 3 * GenerationCache.MOST; i++) {
      FenceCounter counter = FenceCounter.of(LockId.mutex("order-" + i), 1);
      known.put(counter, i);
      assertThat(known.of(counter)).hasValue(i);
      assertThat(known.size()).isLessThanOrEqualTo(GenerationCache.MOST);
    }
    assertThat(known.of(FenceCounter.of(LockId.mutex("order-1"), 1))).isEmpty();
  }

  @Test
  void remembersNoKeys() {
    GenerationCache known = new GenerationCache();
    for (int key = 1; key <= 1_000; key++) {
      known.put(FenceCounter.of(LockId.mutex("order:" + key), 1), 1);
    }
    assertThat(known.size()).isEqualTo(FenceCounter.SHARED);
  }
}
