package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.web.client.RestClient;

/** The page of one demo: it shows what the receiver counts, and its buttons do what they say. */
@BrokerTest
class DemoPageTest {

  private static ChildJvm demo;
  private static String page;
  private static RestClient receiver;

  @BeforeAll
  static void start(Broker broker) {
    demo = DemoProgram.on(broker).start();
    String said = demo.awaitLine("RabbitMQ ", DemoProgram.AT_MOST);
    receiver = RestClient.create(said.replaceFirst(".*receiver on ", ""));
    page = demo.awaitLine("page: ", DemoProgram.AT_MOST).replace("page: ", "");
  }

  @AfterAll
  static void end() {
    demo.close();
  }

  @Test
  void showsWhatTheReceiverCounts() throws Exception {
    try (Watcher watcher = new Watcher(page)) {
      Scene full = watcher.await(scene -> held(scene) == 5);
      assertThat(full.lanes()).extracting(Scene.Lane::slot).doesNotHaveDuplicates();
      UploadCount.Snapshot before = count();
      // One that was on its way may be older than that count; the one after it is not.
      watcher.next();
      Scene scene = watcher.await(next -> next.uploads().received() >= before.received());
      UploadCount.Snapshot after = count();
      assertThat(scene.uploads().received()).isBetween(before.received(), after.received());
      assertThat(scene.uploads().most()).isBetween(before.most(), after.most());
      assertThat(scene.uploads().inFlight()).isBetween(0, scene.mostSlots());
    }
  }

  private static long held(Scene scene) {
    return scene.lanes().stream().filter(lane -> lane.worker() != null).count();
  }

  private static UploadCount.Snapshot count() {
    return Objects.requireNonNull(
        receiver.get().uri("/stats").retrieve().body(UploadCount.Snapshot.class));
  }
}
