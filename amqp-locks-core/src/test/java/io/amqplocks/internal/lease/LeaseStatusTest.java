package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.lease.LeaseStatus.Phase;
import io.amqplocks.lock.LossReason;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class LeaseStatusTest {

  private static final LossReason GONE = new LossReason(LossReason.Cause.REVOKED, "gone");

  @Test
  void aLifeInOrder() {
    LeaseStatus status = LeaseStatus.pending(5);
    assertThat(status.phase()).isEqualTo(Phase.PENDING);
    status = status.acquired();
    assertThat(status.phase()).isEqualTo(Phase.HELD);
    status = status.verified(9);
    assertThat(status.verifiedAt()).isEqualTo(9);
    assertThat(status.verified(7)).as("an older answer").isSameAs(status);
    assertThat(status.lost(GONE).loss()).isEqualTo(GONE);
    assertThat(status.released().phase()).isEqualTo(Phase.RELEASED);
  }

  @Test
  void clockValuesWrapAround() {
    LeaseStatus status = LeaseStatus.pending(Long.MAX_VALUE - 1).acquired();
    assertThat(status.verified(Long.MIN_VALUE + 5).verifiedAt()).isEqualTo(Long.MIN_VALUE + 5);
  }

  /** Whatever happens in whatever order: an end is final, and a status never goes back. */
  @Test
  void theEndIsFinalInAnyHistory() {
    Random random = new Random(42);
    List<UnaryOperator<LeaseStatus>> events =
        List.of(
            LeaseStatus::acquired,
            s -> s.verified(random.nextInt(100)),
            s -> s.lost(GONE),
            LeaseStatus::released);
    for (int history = 0; history < 10_000; history++) {
      LeaseStatus status = LeaseStatus.pending(0);
      for (int step = 0; step < 12; step++) {
        LeaseStatus next = events.get(random.nextInt(events.size())).apply(status);
        if (status.phase().isFinal()) {
          assertThat(next).isSameAs(status);
        }
        assertThat(next.verifiedAt()).isGreaterThanOrEqualTo(status.verifiedAt());
        assertThat(next.loss() != null).isEqualTo(next.phase() == Phase.LOST);
        assertThat(next.phase()).isGreaterThanOrEqualTo(status.phase());
        status = next;
      }
    }
  }
}
