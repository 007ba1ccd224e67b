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
    assertThat(options).isEqualTo(new Options("core", true, "3.10", "Mutex", null, List.of()));
    assertThat(options.wants("persistent mutex, alone")).isTrue();
    assertThat(options.wants("semaphore")).isFalse();
  }

  @Test
  void peersTakesTheSameOptions() {
    Options options = Options.parse(List.of("peers", "--only", "alone", "--quick"));
    assertThat(options).isEqualTo(new Options("peers", true, null, "alone", null, List.of()));
  }

  @Test
  void scaleTakesANumberOfClients() {
    Options options = Options.parse(List.of("scale", "--clients", "300"));
    assertThat(options).isEqualTo(new Options("scale", false, null, "", 300, List.of()));
    assertThatThrownBy(() -> Options.parse(List.of("scale", "--clients", "0")))
        .hasMessageContaining("Not a number of clients: 0");
    assertThatThrownBy(() -> Options.parse(List.of("scale", "--clients", "many")))
        .hasMessageContaining("Not a number of clients: many");
  }

  @Test
  void leavesJmhItsOwn() {
    Options options = Options.parse(List.of("jmh", "--line", "4.3", "-prof", "gc"));
    assertThat(options.rest()).containsExactly("-prof", "gc");
  }

  @Test
  void saysWhatIsWrong() {
    assertThatThrownBy(() -> Options.parse(List.of()))
        .hasMessageContaining("core, peers, scale, jmh or explain");
    assertThatThrownBy(() -> Options.parse(List.of("core", "--fast")))
        .hasMessageContaining("--fast");
    assertThatThrownBy(() -> Options.parse(List.of("core", "--line")))
        .hasMessageContaining("--line");
  }
}
