package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code bin/demo} promises, with the tests' broker lent to it: who is killed gives back. */
@BrokerTest(everyLine = true)
class DemoTest {

  @Test
  void withKillTheRestFinishAndTheLimitHolds(Broker broker) {
    try (ChildJvm demo = DemoProgram.on(broker).args("--once", "--kill").start()) {
      List<String> said = DemoProgram.success(demo);
      assertThat(said).last().isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
      assertThat(said).anyMatch(line -> line.matches("worker \\d killed in mid-upload, .*"));
      assertThat(said).anyMatch(line -> line.matches("slot \\d taken by worker \\d after \\d+ ms"));
    }
  }

  @Test
  void withAQueueForEachSlotToo(Broker broker) {
    ChildJvmBuilder program =
        DemoProgram.on(broker).args("--once", "--kill", "--algorithm", "slots");
    try (ChildJvm demo = program.start()) {
      List<String> said = DemoProgram.success(demo);
      assertThat(said).last().isEqualTo("images: 60 uploaded, at most 5 at once, 0 leases lost");
      assertThat(said).anyMatch(line -> line.endsWith("share 5 upload slots, a queue each"));
      assertThat(said).anyMatch(line -> line.matches("slot \\d taken by worker \\d after \\d+ ms"));
    }
  }
}
