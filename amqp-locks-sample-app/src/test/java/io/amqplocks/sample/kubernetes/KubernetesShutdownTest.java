package io.amqplocks.sample.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.amqplocks.AmqpLocks;
import io.amqplocks.sample.images.ImageFolder;
import io.amqplocks.sample.images.Thumbnail;
import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerFaults;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.web.client.RestClient;

/**
 * What the manifests make of the application: it is started with the variables of its container,
 * asked by its probes and ended by SIGTERM, as by the kubelet. There is no cluster.
 */
@BrokerTest(ownBroker = true)
class KubernetesShutdownTest {

  private static final Path IMAGES = Path.of(System.getProperty("sample.images", "target/images"));
  private static final Duration LONG = Duration.ofMinutes(1);

  /** What Java ends with after a SIGTERM that it has obeyed; 137 would be a kill. */
  private static final int TERMINATED = 143;

  /** More than Spring AMQP's five seconds, less than the phase has. */
  private static final int UPLOAD_SECONDS = 12;

  /** Durable queues outlive their users, so that each test needs some of its own. */
  private final String prefix = "test-" + Long.toHexString(System.nanoTime()) + ".";

  private final String workQueue = prefix + "todo";
  private final ConnectionFactory broker;
  private final BrokerFaults faults;
  private final List<Pod> pods = new ArrayList<>();

  KubernetesShutdownTest(Broker broker) {
    this.broker = broker.connectionFactory();
    this.faults = broker.faults();
  }

  @Test
  void anUploadThatHasBegunIsOverBeforeThePodIs() throws Exception {
    Pod receiving = start("images-receiver");
    receiving.awaitStarted();
    String image = new ImageFolder(IMAGES).names().get(0);
    int size = Thumbnail.of(image, new ImageFolder(IMAGES).read(image)).size();
    Pod worker =
        start(
            "images-worker",
            "--sample.worker.receiver=" + receiving.address(),
            "--sample.worker.bytes-per-second=%dB".formatted(size / UPLOAD_SECONDS));
    worker.awaitStarted();
    assertThat(worker.asksLiveness()).isEqualTo(200);
    await().atMost(LONG).until(() -> worker.asksReadiness() == 200);
    await().atMost(LONG).until(() -> receiving.asksReadiness() == 200);
    assertThat(worker.revokesSlots()).isEqualTo(405);

    addWork(image);
    await().atMost(LONG).until(() -> count(receiving).inFlight() == 1);
    worker.terminate();
    await().atMost(LONG).until(() -> worker.asksReadiness() == 503);
    assertThat(worker.asksLiveness()).isEqualTo(200);
    assertThat(count(receiving).inFlight()).isEqualTo(1);

    assertThat(worker.awaitEnd()).as("%s", worker.log()).hasValue(TERMINATED);
    assertThat(count(receiving)).isEqualTo(new UploadCount.Snapshot(0, 1, 1, 1, 0));
    assertThat(worker.log())
        .anyMatch(line -> line.matches(".*'images': slot \\d released after.*"))
        .noneMatch(line -> line.contains("lost"));
    assertNothingIsLeftToDo();
    receiving.terminate();
    assertThat(receiving.awaitEnd()).as("%s", receiving.log()).hasValue(TERMINATED);
  }

  @Test
  void anOutageOfTheBrokerIsNoReasonToRestart() throws Exception {
    Pod worker = start("images-worker");
    worker.awaitStarted();
    await().atMost(LONG).until(() -> worker.asksReadiness() == 200);
    faults.kill();
    await()
        .atMost(LONG)
        .until(
            () -> {
              assertThat(worker.asksLiveness()).isEqualTo(200);
              return worker.asksReadiness() == 503;
            });
    faults.start();
    await()
        .atMost(LONG)
        .until(
            () -> {
              assertThat(worker.asksLiveness()).isEqualTo(200);
              return worker.asksReadiness() == 200;
            });
    worker.terminate();
    assertThat(worker.awaitEnd()).as("%s", worker.log()).hasValue(TERMINATED);
  }

  @Test
  void withoutItsBrokerItStartsAndEnds() throws Exception {
    faults.kill();
    Pod worker = start("images-worker");
    worker.awaitStarted();
    assertThat(worker.asksLiveness()).isEqualTo(200);
    await().atMost(LONG).until(() -> worker.asksReadiness() == 503);
    worker.terminate();
    assertThat(worker.awaitEnd()).as("%s", worker.log()).hasValue(TERMINATED);
  }

  /** Calls are sent, and never answered. */
  @Test
  void aBrokerThatHasFrozenDoesNotKeepThemFromEnding() throws Exception {
    List<Pod> frozen = List.of(start("images-worker"), start("nightly-report"));
    for (Pod pod : frozen) {
      pod.awaitStarted();
      await().atMost(LONG).until(() -> pod.asksReadiness() == 200);
    }
    faults.freeze();
    for (Pod pod : frozen) {
      assertThat(pod.asksLiveness()).isEqualTo(200);
      pod.terminate();
    }
    for (Pod pod : frozen) {
      assertThat(pod.awaitEnd()).as("%s", pod.log()).hasValue(TERMINATED);
    }
  }

  @AfterEach
  void leaveNothingBehind() {
    pods.forEach(Pod::close);
    faults.thaw();
    faults.start();
    faults.queues().stream()
        .map(BrokerQueue::name)
        .filter(queue -> queue.startsWith(prefix))
        .forEach(faults::deleteQueue);
  }

  /** With queues of its own. What a pod has by its network and its volumes, it is told. */
  private Pod start(String deployment, String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--spring.rabbitmq.virtual-host=" + broker.getVirtualHost());
    all.add("--amqp-locks.queue-prefix=" + prefix);
    all.add("--sample.worker.queue=" + workQueue);
    all.add("--sample.worker.folder=" + IMAGES);
    Pod pod =
        new Pod(
            Manifests.deployment(deployment),
            deployment + "-" + pods.size(),
            Map.of(
                "host", broker.getHost(),
                "port", Integer.toString(broker.getPort()),
                "username", broker.getUsername(),
                "password", broker.getPassword()),
            all);
    pods.add(pod);
    return pod;
  }

  /** What the receiver has counted so far. */
  private static UploadCount.Snapshot count(Pod receiver) {
    return Objects.requireNonNull(
        RestClient.create(receiver.address())
            .get()
            .uri("/stats")
            .retrieve()
            .body(UploadCount.Snapshot.class));
  }

  private void addWork(String image) throws Exception {
    try (Connection connection = broker.newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.basicPublish(
          "",
          workQueue,
          MessageProperties.PERSISTENT_TEXT_PLAIN,
          image.getBytes(StandardCharsets.UTF_8));
      channel.waitForConfirmsOrDie(30_000);
    }
  }

  /** The image went to no other worker, and its slot is free. */
  private void assertNothingIsLeftToDo() throws Exception {
    try (Connection connection = broker.newConnection();
        Channel channel = connection.createChannel();
        AmqpLocks locks = AmqpLocks.builder(broker).queuePrefix(prefix).build()) {
      assertThat(channel.messageCount(workQueue)).isZero();
      // A token's message may still be on its way.
      await().atMost(LONG).until(() -> locks.admin().tokenSemaphore("images").inUse() == 0);
    }
  }
}
