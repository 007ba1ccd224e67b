package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.lease.Holding;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The order of the steps, without which tokens would not follow the order of acquisitions. */
@SuppressWarnings("NullAway") // The holding of this test needs no session.
class FencedHoldingTest {

  private final List<String> steps = new ArrayList<>();
  private final Call call = Call.on(LockId.mutex("l"), Duration.ofSeconds(1), Ticker.SYSTEM);
  private boolean secured = true;
  private Holding.Standing standing = Holding.Standing.OURS;

  private final Holding won =
      new Holding() {
        @Override
        public LockId lock() {
          return LockId.mutex("l");
        }

        @Override
        public int slot() {
          return 1;
        }

        @Override
        public boolean contend(Call call, Session session) {
          steps.add("contend");
          return true;
        }

        @Override
        public boolean secure(Call call, Session session, Runnable revoked) {
          steps.add("secure");
          return secured;
        }

        @Override
        public Standing standing(Call call, Session session) {
          steps.add("verify");
          return standing;
        }

        @Override
        public void release(Call call, Session session) {
          steps.add("release");
        }

        @Override
        public String trace() {
          return "queue";
        }
      };

  private final FencedHolding fenced =
      new FencedHolding(
          won,
          (call, session, lock, slot) -> {
            steps.add("draw");
            return new FencingToken(slot, 7, 8);
          });

  private boolean take() {
    return fenced.contend(call, null) && fenced.secure(call, null, () -> {});
  }

  @Test
  void winsThenDrawsThenVerifies() {
    assertThat(take()).isTrue();
    assertThat(steps).containsExactly("contend", "secure", "draw", "verify");
    assertThat(fenced.token()).isEqualTo(new FencingToken(1, 7, 8));
    fenced.release(call, null);
    assertThat(steps).endsWith("release");
  }

  @Test
  void isNotHeldWhereItWasLostAroundTheDraw() {
    for (Holding.Standing lost : List.of(Holding.Standing.GONE, Holding.Standing.SLOT_REMOVED)) {
      standing = lost;
      assertThat(take()).isFalse();
    }
    standing = Holding.Standing.UNKNOWN;
    assertThatThrownBy(this::take)
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("mutex 'l'");
  }

  @Test
  void drawsNothingForWhatItDidNotWin() {
    secured = false;
    assertThat(take()).isFalse();
    assertThat(steps).doesNotContain("draw");
    assertThatThrownBy(fenced::token).isInstanceOf(LockException.NotFenced.class);
  }
}
