package io.amqplocks.internal.slots.probe;

import static io.amqplocks.internal.slots.probe.Presence.ABSENT;
import static io.amqplocks.internal.slots.probe.Presence.PRESENT;
import static io.amqplocks.internal.slots.probe.Presence.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("trap-2")
class ProbeBatchTest {

  private final ProbeBatch batch = new ProbeBatch(List.of("a", "b", "c"), 11);

  @Test
  void returnedIsAbsentConfirmedIsPresentNackedIsNeither() {
    batch.returned("a", true, false);
    batch.confirmed(11, false, true);
    batch.confirmed(12, false, true);
    assertThat(batch.answered()).isNotDone();
    batch.confirmed(13, false, false);
    assertThat(batch.answered()).isDone();
    assertThat(batch.results()).containsExactly(ABSENT, PRESENT, UNKNOWN);
  }

  @Test
  void confirmsMayComeForManyAtOnceAndOutOfOrder() {
    batch.confirmed(13, false, true);
    batch.returned("b", true, false);
    batch.confirmed(12, true, true);
    assertThat(batch.answered()).isDone();
    assertThat(batch.results()).containsExactly(PRESENT, ABSENT, PRESENT);
  }

  /** Where the return follows a nack, the late return of one batch would be another one's. */
  @Test
  void aReturnMayBeTheLastThatComes() {
    batch.confirmed(11, false, true);
    batch.confirmed(12, false, true);
    assertThat(batch.answered()).isNotDone();
    batch.returned("c", true, true);
    assertThat(batch.answered()).isDone();
    assertThat(batch.results()).containsExactly(PRESENT, PRESENT, ABSENT);
  }

  /** Such as that nobody consumes it, or an error of the broker. */
  @Test
  void aReturnForAnotherReasonSaysNothing() {
    batch.returned("a", false, true);
    batch.returned("b", false, false);
    batch.confirmed(12, false, true);
    batch.returned("c", true, true);
    assertThat(batch.answered()).isDone();
    assertThat(batch.results()).containsExactly(UNKNOWN, UNKNOWN, ABSENT);
  }

  @Test
  void silenceIsUnknown() {
    batch.returned("c", true, false);
    assertThat(batch.results()).containsExactly(UNKNOWN, UNKNOWN, ABSENT);
  }

  @Test
  void whatBelongsToAnotherBatchChangesNothing() {
    batch.returned("z", true, false);
    batch.confirmed(10, true, true);
    batch.confirmed(4, false, true);
    assertThat(batch.results()).containsExactly(UNKNOWN, UNKNOWN, UNKNOWN);
    assertThat(batch.answered()).isNotDone();
  }
}
