package io.amqplocks.internal.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class BusyMutexesTest {

  private static final String QUEUE = "q";

  private final BusyMutexes busy = new BusyMutexes();

  private static Call at(Duration time) {
    return Call.on(LockId.mutex("m"), Duration.ofSeconds(5), time::toNanos);
  }

  private static Call start() {
    return at(Duration.ZERO);
  }

  private void findBusy() {
    long number = busy.begin(QUEUE);
    busy.end(start(), QUEUE, number);
  }

  @Test
  void isRememberedForASecond() {
    findBusy();
    assertThat(busy.has(start(), "another")).isFalse();
    assertThat(busy.has(at(Duration.ofMillis(999)), QUEUE)).isTrue();
    assertThat(busy.has(at(Duration.ofSeconds(1)), QUEUE)).isFalse();
  }

  @Test
  void triesAtTheSameTimeAreAllOfUse() {
    long first = busy.begin(QUEUE);
    long second = busy.begin(QUEUE);
    assertThat(busy.has(start(), QUEUE)).isFalse();
    busy.end(start(), QUEUE, first);
    assertThat(busy.has(start(), QUEUE)).isTrue();
    busy.end(at(Duration.ofMillis(500)), QUEUE, second);
    assertThat(busy.has(at(Duration.ofMillis(1_400)), QUEUE)).isTrue();
  }

  @Test
  void aReleaseForgets() {
    findBusy();
    busy.forget(QUEUE);
    assertThat(busy.has(start(), QUEUE)).isFalse();
  }

  /** What it found may be the consumer that was released. */
  @Test
  void aTryDuringAReleaseSaysNothing() {
    long number = busy.begin(QUEUE);
    busy.forget(QUEUE);
    busy.end(start(), QUEUE, number);
    assertThat(busy.has(start(), QUEUE)).isFalse();
    number = busy.begin(QUEUE);
    busy.forget(QUEUE);
    long later = busy.begin(QUEUE);
    busy.end(start(), QUEUE, number);
    assertThat(busy.has(start(), QUEUE)).isFalse();
    busy.end(start(), QUEUE, later);
    assertThat(busy.has(start(), QUEUE)).isTrue();
  }
}
