package io.amqplocks.internal.slots;

import static io.amqplocks.internal.slots.probe.Presence.ABSENT;
import static io.amqplocks.internal.slots.probe.Presence.PRESENT;
import static io.amqplocks.internal.slots.probe.Presence.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SlotScanTest {

  @Test
  void aSlotIsFreeIfItIsThereAndItsHolderIsNot() {
    SlotScan scan =
        SlotScan.NOTHING.then(
            List.of(PRESENT, PRESENT, PRESENT, ABSENT), List.of(PRESENT, ABSENT, ABSENT, ABSENT));
    assertThat(scan.count()).isEqualTo(3);
    assertThat(scan.complete()).isTrue();
    assertThat(scan.free()).containsExactly(2, 3);
    assertThat(scan.unknown()).isZero();
  }

  @Test
  void theLookGoesOnWhereItStopped() {
    SlotScan scan =
        SlotScan.NOTHING
            .then(List.of(PRESENT, PRESENT), List.of(ABSENT, PRESENT))
            .then(List.of(PRESENT, ABSENT), List.of(ABSENT, ABSENT));
    assertThat(scan.count()).isEqualTo(3);
    assertThat(scan.complete()).isTrue();
    assertThat(scan.free()).containsExactly(1, 3);
  }

  @Test
  void whatIsBehindAHoleIsNotASlot() {
    SlotScan scan =
        SlotScan.NOTHING.then(List.of(PRESENT, ABSENT, PRESENT), List.of(PRESENT, ABSENT, ABSENT));
    assertThat(scan.count()).isEqualTo(1);
    assertThat(scan.free()).isEmpty();
  }

  @Tag("trap-2")
  @Test
  void unknownIsNeitherFreeNorTheEnd() {
    SlotScan scan =
        SlotScan.NOTHING.then(
            List.of(UNKNOWN, PRESENT, PRESENT, ABSENT), List.of(ABSENT, UNKNOWN, ABSENT, ABSENT));
    assertThat(scan.count()).isEqualTo(3);
    assertThat(scan.free()).containsExactly(3);
    assertThat(scan.unknown()).isEqualTo(2);
  }
}
