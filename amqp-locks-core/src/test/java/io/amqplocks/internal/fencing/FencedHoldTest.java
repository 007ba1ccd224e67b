package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.lease.Hold;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order of the steps, without which tokens would not follow the order of acquisitions. */
@SuppressWarnings("NullAway") // The holding of this test needs no session.
class FencedHoldTest {

  private final List<String> steps = new ArrayList<>();
  private final Call call = Call.on(LockId.mutex("l"), Duration.ofSeconds(1), Ticker.SYSTEM);
  private boolean secured = true;
  private Hold.HoldStatus status = Hold.HoldStatus.OURS;

  private final Hold won =
      new Hold() {
        @Override
        public LockId lock() {
          return LockId.mutex("l");
        }

        @Override
        public int slot() {
          return 1;
        }

        @Override
        public boolean secure(Call call, Session session, Runnable revoked) {
          steps.add("secure");
          return secured;
        }

        @Override
        public HoldStatus status(Call call, Session session) {
          steps.add("verify");
          return status;
        }

        @Override
        public void release(Call call, Session session) {
          steps.add("release");
        }

        @Override
        public String queueName() {
          return "queue";
        }
      };

  private final FencedHold fenced =
      new FencedHold(
          won,
          (call, session, lock, slot) -> {
            steps.add("draw");
            return new FencingToken(slot, 7, 8);
          });

  private boolean take() {
    return fenced.secure(call, null, () -> {});
  }

  @Test
  void securesThenDrawsThenVerifies() {
    assertThat(take()).isTrue();
    assertThat(steps).containsExactly("secure", "draw", "verify");
    assertThat(fenced.tokenIfAny()).contains(new FencingToken(1, 7, 8));
    fenced.release(call, null);
    assertThat(steps).endsWith("release");
  }

  @Test
  void isNotHeldWhereItWasLostAroundTheDraw() {
    for (Hold.HoldStatus lost : List.of(Hold.HoldStatus.GONE, Hold.HoldStatus.SLOT_REMOVED)) {
      status = lost;
      assertThat(take()).isFalse();
    }
    status = Hold.HoldStatus.UNKNOWN;
    assertThatThrownBy(this::take)
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("mutex 'l'");
  }

  @Test
  void drawsNothingForWhatItDidNotWin() {
    secured = false;
    assertThat(take()).isFalse();
    assertThat(steps).doesNotContain("draw");
    assertThat(fenced.tokenIfAny()).isEmpty();
  }

  /** A lease that is not to be fenced would get a token, or not, by chance. */
  @Test
  void isHandedToFencedLeasesOnlyAndOthersToTheOthers() {
    assertThat(fenced.mayBeHandedTo(true)).isTrue();
    assertThat(fenced.mayBeHandedTo(false)).isFalse();
    assertThat(won.mayBeHandedTo(true)).isFalse();
    assertThat(won.mayBeHandedTo(false)).isTrue();
  }
}
