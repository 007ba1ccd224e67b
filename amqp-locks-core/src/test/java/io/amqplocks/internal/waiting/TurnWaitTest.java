package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnWaitTest {

  private static final LockId LOCK = LockId.tokenSemaphore("s");

  private long now = Long.MAX_VALUE - 5;
  private final List<Long> pauses = new ArrayList<>();

  private TurnWait lasting(Duration time) {
    return new TurnWait(
        Call.on(LOCK, time, () -> now),
        this::sleep,
        () -> new LockException.AcquireTimeout("over"));
  }

  private void sleep(long nanos) {
    pauses.add(nanos);
    now += nanos;
  }

  @Test
  void aFreeTurnIsTakenWithoutAPause() {
    lasting(Duration.ZERO).until(() -> true);
    assertThat(pauses).isEmpty();
  }

  @Test
  void theTurnIsAskedForUntilItIsThere() {
    lasting(TurnWait.TIMEOUT).until(() -> pauses.size() == 3);
    assertThat(pauses).allMatch(pause -> pause >= Backoff.BASE.toNanos());
  }

  @Test
  void theWaitEndsBeforeItsTimeAndLeavesSomeForTheLastRequest() {
    long begin = now;
    TurnWait wait = lasting(TurnWait.TIMEOUT);
    assertThatThrownBy(() -> wait.until(() -> false))
        .isInstanceOf(LockException.AcquireTimeout.class)
        .hasMessage("over");
    assertThat(Duration.ofNanos(now - begin))
        .isBetween(Duration.ofMillis(29_900), Duration.ofMillis(29_999));
    assertThat(pauses).allMatch(pause -> pause <= Backoff.CAP.toNanos());
  }

  @Test
  void whatTheSleepThrowsEndsTheWait() {
    TurnWait wait =
        new TurnWait(
            Call.on(LOCK, TurnWait.TIMEOUT, () -> now),
            nanos -> {
              throw new LockException.Interrupted("told to stop");
            },
            () -> new LockException.AcquireTimeout("over"));
    assertThatThrownBy(() -> wait.until(() -> false)).isInstanceOf(LockException.Interrupted.class);
  }
}
