package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What {@code bin/demo --once} promises, with the tests' broker. */
class DemoTest {

  private static final Duration AT_MOST = Duration.ofMinutes(2);

  @Nested
  @BrokerTest(everyLine = true)
  class WithKill {

    @Test
    void theRestFinishAndTheLimitHolds(Broker broker) {
      try (ChildJvm demo = demo(broker).args("--once", "--kill").start()) {
        String result = demo.awaitLine("images: ", AT_MOST);
        List<String> said = demo.lines();
        assertThat(demo.exitCode(AT_MOST)).as("%s", said).hasValue(0);
        assertThat(result).isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
        assertThat(said).last().isEqualTo(result);
        assertThat(said).anyMatch(line -> line.matches("worker \\d killed in mid-upload, .*"));
        assertThat(said)
            .anyMatch(line -> line.matches("slot \\d taken by worker \\d after \\d+ ms"));
      }
    }
  }

  /** Otherwise nobody would know that the demo could fail. */
  @Nested
  @BrokerTest
  class WithoutLocks {

    @Test
    void theDemoFails(Broker broker) {
      ChildJvmBuilder program = demo(broker).env("AMQP_LOCKS_ENABLED", "false");
      try (ChildJvm demo = program.args("--once", "--processes", "2").start()) {
        String result = demo.awaitLine("images: ", AT_MOST);
        assertThat(result).matches("images: 60 uploaded, at most [678] at once, 0 leases lost");
        assertThat(demo.lines()).contains("More uploads at once than there are slots");
        assertThat(demo.exitCode(AT_MOST)).hasValue(1);
      }
    }
  }

  private static ChildJvmBuilder demo(Broker broker) {
    return ChildJvm.of(Demo.class)
        .systemProperty("logback.configurationFile", "demo-logback.xml")
        .systemProperty("sample.images", System.getProperty("sample.images", "target/images"))
        .env("AMQP_LOCKS_BROKER_URI", broker.uri());
  }
}
