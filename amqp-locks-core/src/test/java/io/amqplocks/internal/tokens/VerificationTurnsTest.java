package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerificationTurnsTest {

  private final VerificationTurns turns = new VerificationTurns();

  private static Call call(Duration bound) {
    return Call.on(LockId.tokenSemaphore("s"), bound, Ticker.SYSTEM);
  }

  private boolean begins(String queue, boolean alone) throws Exception {
    return CompletableFuture.supplyAsync(
            () -> {
              boolean begun = turns.begin(call(Duration.ofMillis(50)), queue, alone);
              if (begun) {
                turns.end(queue, alone);
              }
              return begun;
            })
        .get(30, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @CsvSource({
    "q, false, q, false, true",
    "q, true, q, false, false",
    "q, false, q, true, false",
    "q, true, q, true, false",
    "q, true, other, true, true",
  })
  void whoMayBeginBesideAnother(
      String queue, boolean alone, String others, boolean otherAlone, boolean expected)
      throws Exception {
    assertThat(turns.begin(call(Duration.ofSeconds(10)), queue, alone)).isTrue();
    assertThat(begins(others, otherAlone)).isEqualTo(expected);
    turns.end(queue, alone);
    assertThat(begins(others, otherAlone)).isTrue();
  }
}
