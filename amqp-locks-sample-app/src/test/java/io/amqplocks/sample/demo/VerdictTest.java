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

  private static boolean isFinal(String line, Snapshot count, int kills, Set<Integer> freed) {
    return Verdict.isFinal(DemoOptions.parse(List.of(line.split(" "))), count, kills, freed);
  }

  /** Of 60 images that all came in at once or later. */
  private static Snapshot most(int most) {
    return new Snapshot(0, most, 60, 60, 0);
  }

  private static Optional<String> on(String line, Snapshot count, int kills, Set<Integer> freed) {
    return Verdict.on(DemoOptions.parse(List.of(line.split(" "))), count, kills, freed);
  }

  private static Consumer<String> says(String text) {
    return fault -> assertThat(fault).contains(text);
  }
}
