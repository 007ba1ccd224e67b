package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.ChildJvm;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The demo where there is a JDK and nothing else. */
@Tag("one-jdk")
@ResourceLock("Qpid and its processes") // one at a time, since each starts several JVMs
class DemoEmbeddedTest {

  @Test
  void theLimitHoldsOnTheBrokerInTheJvmToo() {
    String[] options = {"--once", "--kill", "--broker", "embedded"};
    try (ChildJvm demo =
        DemoProgram.anywhere().env("AMQP_LOCKS_BROKER_URI", "").args(options).start()) {
      List<String> said = DemoProgram.success(demo);
      assertThat(said).last().isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
      assertThat(said).anyMatch(line -> line.startsWith("Apache Qpid Broker-J 10."));
      assertThat(said).anyMatch(line -> line.endsWith("upload slots, tokens on a classic queue"));
      assertThat(said).anyMatch(line -> line.matches("slot \\d taken by worker \\d after \\d+ ms"));
    }
  }

  @Test
  void andWithAConnectionForEachSlot() {
    String[] options = {"--once", "--algorithm", "slots", "--broker", "embedded"};
    try (ChildJvm demo =
        DemoProgram.anywhere().env("AMQP_LOCKS_BROKER_URI", "").args(options).start()) {
      assertThat(DemoProgram.success(demo))
          .last()
          .isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
    }
  }
}
