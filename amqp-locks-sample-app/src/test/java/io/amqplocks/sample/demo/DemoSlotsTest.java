package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import org.junit.jupiter.api.Test;

/** What {@code bin/demo} promises of its options. */
@BrokerTest(everyLine = true)
class DemoSlotsTest {

  @Test
  void theSlotsAreThoseAskedForAndAllInUse(Broker broker) {
    ChildJvmBuilder program =
        DemoProgram.on(broker).args("--once", "--slots", "3", "--processes", "2");
    try (ChildJvm demo = program.start()) {
      assertThat(DemoProgram.success(demo))
          .last()
          .isEqualTo("images: 60 uploaded, at most 3 at once, 0 leases lost");
    }
  }
}
