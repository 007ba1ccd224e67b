package io.amqplocks.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {

  @Test
  void readsTheCommandLine() {
    Options options =
        Options.parse(List.of("core", "--quick", "--line", "3.10", "--only", "Mutex"));
    assertThat(options).isEqualTo(new Options("core", true, "3.10", "Mutex", List.of()));
    assertThat(options.wants("persistent mutex, alone")).isTrue();
    assertThat(options.wants("semaphore")).isFalse();
  }

  @Test
  void peersTakesTheSameOptions() {
    Options options = Options.parse(List.of("peers", "--only", "alone", "--quick"));
    assertThat(options).isEqualTo(new Options("peers", true, null, "alone", List.of()));
  }

  @Test
  void leavesJmhItsOwn() {
    Options options = Options.parse(List.of("jmh", "--line", "4.3", "-prof", "gc"));
    assertThat(options.rest()).containsExactly("-prof", "gc");
  }

  @Test
  void saysWhatIsWrong() {
    assertThatThrownBy(() -> Options.parse(List.of()))
        .hasMessageContaining("core, peers, jmh or explain");
    assertThatThrownBy(() -> Options.parse(List.of("core", "--fast")))
        .hasMessageContaining("--fast");
    assertThatThrownBy(() -> Options.parse(List.of("core", "--line")))
        .hasMessageContaining("--line");
  }
}
