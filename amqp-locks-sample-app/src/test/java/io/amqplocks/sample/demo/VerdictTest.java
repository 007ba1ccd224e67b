package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.sample.receiver.UploadCount.Snapshot;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class VerdictTest {

  private static final Set<Integer> NONE = Set.of();

  @Test
  void allSlotsMustHaveBeenInUseAndNoMore() {
    assertThat(on("--once", most(5), 0, NONE)).isEmpty();
    assertThat(on("--once", most(4), 0, NONE)).hasValueSatisfying(says("Never 5"));
    assertThat(on("--once", most(6), 0, NONE)).hasValueSatisfying(says("More uploads"));
  }

  @Test
  void fewerThreadsThanSlotsCannotFillThem() {
    assertThat(on("--once --processes 1 --slots 9", most(4), 0, NONE)).isEmpty();
    assertThat(on("--once --processes 1 --slots 9", most(3), 0, NONE))
        .hasValueSatisfying(says("Never 4"));
  }

  @Test
  void aKillMustHitAnUploadAndItsSlotsBeUsedAgain() {
    Snapshot hit = new Snapshot(0, 5, 60, 60, 1);
    assertThat(on("--once --kill", hit, 1, NONE)).isEmpty();
    assertThat(on("--once --kill", hit, 0, NONE)).hasValueSatisfying(says("No worker was killed"));
    assertThat(on("--once --kill", hit, 1, Set.of(2))).hasValueSatisfying(says("unused"));
    assertThat(on("--once --kill", most(5), 1, NONE)).hasValueSatisfying(says("too late"));
    assertThat(on("--once --kill", new Snapshot(0, 6, 60, 60, 1), 1, NONE))
        .hasValueSatisfying(says("More uploads"));
  }

  @Test
  void moreMayBeSeenUntilAllIsShownOrTheLimitBroken() {
    assertThat(isFinal("--once", most(5), 0, NONE)).isTrue();
    assertThat(isFinal("--once", most(4), 0, NONE)).isFalse();
    assertThat(isFinal("--once", most(6), 0, NONE)).isTrue();
    assertThat(isFinal("--once --processes 1 --slots 9", most(4), 0, NONE)).isTrue();
    Snapshot hit = new Snapshot(0, 5, 60, 60, 1);
    assertThat(isFinal("--once --kill", hit, 1, NONE)).isTrue();
    assertThat(isFinal("--once --kill", hit, 1, Set.of(2))).isFalse();
    assertThat(isFinal("--once --kill", most(5), 1, NONE)).isFalse();
    assertThat(isFinal("--once --kill", new Snapshot(0, 4, 60, 60, 1), 1, NONE)).isFalse();
  }

  @Test
  void afterAResizeTheMostSlotsAreTheLimit() {
    DemoOptions options = DemoOptions.parse(List.of("--once"));
    SlotNumbers slots = new SlotNumbers(5);
    assertThat(slots.willBe(7)).isEqualTo(5);
    assertThat(Verdict.on(options, slots, most(7), 0, NONE)).isEmpty();
    assertThat(Verdict.on(options, slots, most(5), 0, NONE)).isEmpty();
    assertThat(Verdict.on(options, slots, most(8), 0, NONE))
        .hasValueSatisfying(says("More uploads"));
    slots.are(7);
    assertThat(slots.willBe(3)).isEqualTo(7);
    assertThat(Verdict.on(options, slots, most(3), 0, NONE)).isEmpty();
  }

  private static boolean isFinal(String line, Snapshot count, int kills, Set<Integer> freed) {
    DemoOptions options = DemoOptions.parse(List.of(line.split(" ")));
    return Verdict.isFinal(options, new SlotNumbers(options.slots()), count, kills, freed);
  }

  /** Of 60 images that all came in at once or later. */
  private static Snapshot most(int most) {
    return new Snapshot(0, most, 60, 60, 0);
  }

  private static Optional<String> on(String line, Snapshot count, int kills, Set<Integer> freed) {
    DemoOptions options = DemoOptions.parse(List.of(line.split(" ")));
    return Verdict.on(options, new SlotNumbers(options.slots()), count, kills, freed);
  }

  private static Consumer<String> says(String text) {
    return fault -> assertThat(fault).contains(text);
  }
}
