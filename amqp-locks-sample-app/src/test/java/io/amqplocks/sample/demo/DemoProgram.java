package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.Broker;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/** The program behind {@code bin/demo}, in a process of its own. */
final class DemoProgram {

  static final Duration AT_MOST = Duration.ofMinutes(5);

  private DemoProgram() {}

  /** With the tests' broker lent to it. */
  static ChildJvmBuilder on(Broker broker) {
    return anywhere().env("AMQP_LOCKS_BROKER_URI", broker.uri());
  }

  static ChildJvmBuilder anywhere() {
    return ChildJvm.of(Demo.class)
        .systemProperty("logback.configurationFile", "demo-logback.xml")
        .systemProperty("sample.images", System.getProperty("sample.images", "target/images"));
  }

  /** What it said, to its end. */
  static List<String> success(ChildJvm demo) {
    OptionalInt code = demo.exitCode(AT_MOST);
    List<String> said = demo.lines();
    assertThat(code).as("%s %s", said, demo.errorLines()).hasValue(0);
    return said;
  }
}
