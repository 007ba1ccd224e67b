package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoOptionsTest {

  @Test
  void hasDefaults() {
    assertThat(parse(""))
        .isEqualTo(new DemoOptions(false, false, 3, 5, SemaphoreAlgorithm.TOKENS, 0, null));
  }

  @Test
  void readsAll() {
    assertThat(
            parse(
                "--kill --slots 7 --port 8090 --processes 4 --broker 3.10 --algorithm slots --once"))
        .isEqualTo(new DemoOptions(true, true, 4, 7, SemaphoreAlgorithm.SLOTS, 8090, "3.10"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--slots",
        "--slots 0",
        "--slots -1",
        "--slots many",
        "--processes 0",
        "--broker",
        "--port",
        "--port 65536",
        "--algorithm",
        "--algorithm default",
        "--kill --processes 1",
        "--kill --slots 9",
        "--frobnicate"
      })
  void refuses(String line) {
    assertThatIllegalArgumentException().isThrownBy(() -> parse(line)).withMessageContaining("--");
  }

  private static DemoOptions parse(String line) {
    return DemoOptions.parse(line.isEmpty() ? List.of() : List.of(line.split(" ")));
  }

  @Test
  void aLineThatIsNotThereIsNamed() {
    ChildJvmBuilder program =
        DemoProgram.anywhere().env("AMQP_LOCKS_BROKER_URI", "").env("DOCKER_HOST", "unix:///");
    try (ChildJvm demo = program.args("--once", "--broker", "9.9").start()) {
      assertThat(demo.exitCode(DemoProgram.AT_MOST)).hasValue(1);
      // On a machine without any broker it says so instead.
      assertThat(demo.lines()).last().asString().startsWith("No RabbitMQ").contains("can be had");
    }
  }
}
