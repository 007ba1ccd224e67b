package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.web.client.RestClient;

/**
 * The page of one demo: it shows what the receiver counts, and its buttons do what they say. In
 * order, because a start costs more than all that is seen of it; each test leaves workers at work.
 */
@Tag("one-jdk")
@BrokerTest(ownBroker = true)
class DemoPageTest extends PageKeyboardContract {

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static ChildJvm demo;
  private static String page;
  private static RestClient receiver;

  @BeforeAll
  static void start(Broker broker) {
    demo = DemoProgram.on(broker).args("--processes", "2").start();
    String said = demo.awaitLine("RabbitMQ ", DemoProgram.AT_MOST);
    receiver = RestClient.create(said.replaceFirst(".*receiver on ", ""));
    page = demo.awaitLine("page: ", DemoProgram.AT_MOST).replace("page: ", "");
  }

  @AfterAll
  static void end() {
    demo.close();
  }

  @Test
  @Order(1)
  void showsWhatTheReceiverCounts() throws Exception {
    try (Watcher watcher = new Watcher(page)) {
      Scene full = watcher.await(scene -> held(scene) == 5);
      assertThat(full.lanes()).extracting(Scene.Lane::slot).containsExactly(1, 2, 3, 4, 5);
      assertThat(full.lanes()).extracting(Scene.Lane::worker).isSubsetOf(1, 2);
      UploadCount.Snapshot before = count();
      Scene scene = watcher.await(next -> next.uploads().received() > before.received());
      UploadCount.Snapshot after = count();
      assertThat(scene.uploads().received()).isLessThanOrEqualTo(after.received());
      assertThat(scene.uploads().most()).isBetween(before.most(), after.most());
      Scene asked = watcher.await(next -> next.atBroker() != null);
      assertThat(Objects.requireNonNull(asked.atBroker()).slots()).isEqualTo(5);
      watcher.await(next -> next.workers().stream().mapToInt(DemoPageTest::waiting).sum() > 0);
      watcher.await(next -> next.seconds().stream().mapToInt(Scene.Second::uploads).sum() > 0);
    }
  }

  /** On a real browser, by its keyboard, and as a screen reader gets it. */
  @Test
  @Order(2)
  void aBrowserShowsItToEyesAndScreenReaders() throws Exception {
    try (PageInBrowser shown = PageInBrowser.open(page)) {
      shown.until(() -> shown.texts("#lanes td:nth-child(2)").contains("worker 1"));
      assertThat(shown.texts("#lanes th"))
          .containsExactly("Slot 1", "Slot 2", "Slot 3", "Slot 4", "Slot 5");
      shown.until(() -> shown.number("#lanes rect") > 10);
      assertThat(shown.browser().accessible())
          .contains("button Kill worker 1", "button One slot more", "rowheader Slot 1")
          .anyMatch(node -> node.matches("cell held, confirmed \\d+\\.\\d s ago"));
      picture(shown, "light");
      shown.browser().prefers("prefers-color-scheme", "dark");
      assertThat(shown.style("body", "background-color")).isEqualTo("rgb(15, 20, 25)");
      picture(shown, "dark");
      shown.browser().prefers("prefers-color-scheme", "light");
      shown.browser().size(390, 844);
      assertThat(shown.browser().value("document.documentElement.scrollWidth").asInt())
          .isEqualTo(390);
      picture(shown, "phone");
      // The first button by the keyboard.
      shown.browser().key("Tab", 9, "");
      assertThat(shown.focused()).isEqualTo("fewer");
      assertThat(shown.style("#fewer", "outline-style")).isEqualTo("solid");
      shown.browser().key("Enter", 13, "\r");
      shown.until(() -> shown.texts("#count").equals(List.of("4 slots")));
    }
  }

  @Test
  @Order(3)
  void resizes() throws Exception {
    try (Watcher watcher = new Watcher(page)) {
      assertThat(watcher.press("slots/0").statusCode()).isEqualTo(400);
      assertThat(watcher.press("slots/25").body())
          .isEqualTo("There can be 1 to 24 slots here, not 25");
      assertThat(watcher.press("slots/7").statusCode()).isEqualTo(204);
      watcher.await(scene -> held(scene) == 7 && scene.slots() == 7);
      await().atMost(PATIENCE).until(() -> count().most() == 7);
      assertThat(watcher.press("slots/5").statusCode()).isEqualTo(204);
      watcher.await(scene -> scene.lanes().size() == 5 && held(scene) == 5);
    }
  }

  @Test
  @Order(4)
  void cutsAWorkersConnections() throws Exception {
    try (Watcher watcher = new Watcher(page)) {
      Scene lost = cutUntilOneIsLost(watcher);
      watcher.await(scene -> has(scene, "worker 1 lost slot"));
      assertThat(lost.workers()).extracting(Scene.Worker::number).contains(1);
      // It comes back, and acquires anew.
      watcher.await(
          scene ->
              scene.holds().stream().anyMatch(bar -> bar.worker() == 1 && bar.from() > lost.now()));
    }
  }

  /** It may have nothing to lose in the moment of a cut. */
  private static Scene cutUntilOneIsLost(Watcher watcher) throws Exception {
    for (int cuts = 0; cuts < 5; cuts++) {
      Scene before = watcher.await(scene -> held(scene, 1) > 1);
      assertThat(watcher.press("workers/1/cut").statusCode()).isEqualTo(204);
      Scene after =
          watcher.await(
              scene -> scene.lost() > before.lost() || scene.now() - before.now() > 10_000);
      if (after.lost() > before.lost()) {
        return after;
      }
    }
    throw new AssertionError("Nothing was lost by five cuts");
  }

  @Test
  @Order(5)
  void killsAWorkerAndStartsAnother() throws Exception {
    try (Watcher watcher = new Watcher(page)) {
      Scene before = watcher.await(scene -> held(scene, 2) > 0);
      long pid =
          before.workers().stream().filter(w -> w.number() == 2).findAny().orElseThrow().pid();
      assertThat(ProcessHandle.of(pid)).isPresent();
      assertThat(watcher.press("workers/2/kill", "http://evil.example").statusCode())
          .isEqualTo(403);
      assertThat(ProcessHandle.of(pid)).isPresent();
      assertThat(watcher.press("workers/2/kill").statusCode()).isEqualTo(204);
      assertThat(ProcessHandle.of(pid)).isEmpty();
      assertThat(watcher.press("workers/2/kill").body()).isEqualTo("There is no worker 2");
      Scene after = watcher.await(scene -> held(scene, 3) > 0);
      assertThat(after.workers()).extracting(Scene.Worker::number).containsExactly(1, 3);
      assertThat(has(after, "worker 2 killed")).isTrue();
    }
  }

  @Test
  @Order(20)
  void someSlotsStayFreeIfThereAreMoreThanThreads() throws Exception {
    try (PageInBrowser shown = PageInBrowser.open(page);
        Watcher watcher = new Watcher(page)) {
      assertThat(watcher.press("slots/12").statusCode()).isEqualTo(204);
      // Two workers of four threads cannot use them all.
      watcher.await(scene -> scene.lanes().size() == 12 && held(scene) > 5);
      shown.until(() -> shown.texts("#lanes th").size() == 12);
      shown.until(() -> shown.texts("#waiting").equals(List.of("0")));
      picture(shown, "some-load");
    }
  }

  /** The demo sends no more work as long as much of it seems to be on its way. */
  @Test
  @Order(21)
  void withoutWorkAllSlotsAreFree(Broker broker) throws Exception {
    String work =
        broker.faults().queues().stream()
            .map(BrokerQueue::name)
            .filter(name -> name.startsWith("demo-") && name.endsWith(".todo"))
            .findAny()
            .orElseThrow();
    try (PageInBrowser shown = PageInBrowser.open(page);
        Connection connection = broker.connectionFactory().newConnection();
        Channel channel = connection.createChannel()) {
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                channel.queuePurge(work);
                return areAll("nobody", shown.texts("#lanes td:nth-child(2)"))
                    && areAll("free", shown.texts("#lanes td:nth-child(4)"))
                    && shown.texts("#in-flight").equals(List.of("0"));
              });
      picture(shown, "no-load");
    }
  }

  private static boolean areAll(String text, List<String> texts) {
    return texts.stream().distinct().toList().equals(List.of(text));
  }

  @Test
  @Order(30)
  void endsWithTheDemo() throws Exception {
    try (Watcher watcher = new Watcher(page)) {
      // As Ctrl-C does.
      assertThat(ProcessHandle.of(demo.pid()).orElseThrow().destroy()).isTrue();
      assertThat(watcher.end()).startsWith("images: ").endsWith(" lost");
    }
    assertThat(demo.exitCode(DemoProgram.AT_MOST)).isPresent();
    assertThatThrownBy(() -> new Watcher(page).close()).isInstanceOf(ConnectException.class);
  }

  @Override
  protected String address() {
    return page;
  }

  private static long held(Scene scene) {
    return scene.lanes().stream().filter(lane -> lane.worker() != null).count();
  }

  private static long held(Scene scene, int worker) {
    return scene.lanes().stream().filter(lane -> Objects.equals(lane.worker(), worker)).count();
  }

  private static int waiting(Scene.Worker worker) {
    return Objects.requireNonNullElse(worker.waiting(), 0);
  }

  private static boolean has(Scene scene, String event) {
    return scene.events().stream().anyMatch(happened -> happened.text().startsWith(event));
  }

  private static UploadCount.Snapshot count() {
    return Objects.requireNonNull(
        receiver.get().uri("/stats").retrieve().body(UploadCount.Snapshot.class));
  }
}
