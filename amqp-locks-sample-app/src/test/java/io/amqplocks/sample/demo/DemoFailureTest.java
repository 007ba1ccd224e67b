package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Otherwise nobody would know that the demo could fail. */
@Tag("one-jdk")
@BrokerTest
class DemoFailureTest {

  @Test
  void theDemoFails(Broker broker) {
    ChildJvmBuilder program = DemoProgram.on(broker).env("AMQP_LOCKS_ENABLED", "false");
    try (ChildJvm demo = program.args("--once", "--processes", "2", "--slots", "1").start()) {
      assertThat(demo.exitCode(DemoProgram.AT_MOST)).hasValue(1);
      assertThat(demo.lines())
          .contains("More uploads at once than there are slots")
          .last()
          .asString()
          .matches("images: 60 uploaded, at most [2-8] at once, 0 leases lost");
    }
  }
}
