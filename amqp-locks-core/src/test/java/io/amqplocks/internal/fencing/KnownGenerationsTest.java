package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.fencing.KnownGenerations.Slot;
import io.amqplocks.lock.LockId;
import org.junit.jupiter.api.Test;

class KnownGenerationsTest {

  @Test
  void rememberNoMoreThanSoManyWhateverNamesAreMadeUp() {
    KnownGenerations known = new KnownGenerations();
    for (int i = 1; i <= 3 * KnownGenerations.MOST; i++) {
      Slot slot = new Slot(LockId.mutex("order-" + i), 1);
      known.put(slot, i);
      assertThat(known.of(slot)).hasValue(i);
      assertThat(known.size()).isLessThanOrEqualTo(KnownGenerations.MOST);
    }
    assertThat(known.of(new Slot(LockId.mutex("order-1"), 1))).isEmpty();
  }
}
