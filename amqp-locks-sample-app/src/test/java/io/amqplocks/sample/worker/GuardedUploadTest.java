package io.amqplocks.sample.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.ConnectionFactory;
import com.sun.net.httpserver.HttpServer;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.sample.SampleApplication;
import io.amqplocks.sample.images.ImageFolder;
import io.amqplocks.sample.images.Thumbnail;
import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerFaults;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.RestClient;

/** The guarded upload on a real broker, in applications as they really start. */
@BrokerTest(everyLine = true)
class GuardedUploadTest {

  private static final Path IMAGES = Path.of(System.getProperty("sample.images", "target/images"));
  private static final int SLOTS = 3;

  /** Durable queues outlive their users, so that each test needs some of its own. */
  private final String prefix = "test-" + Long.toHexString(System.nanoTime()) + ".";

  private final String workQueue = prefix + "todo";

  private final ConnectionFactory broker;
  private final BrokerFaults faults;
  private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

  GuardedUploadTest(Broker broker) {
    this.broker = broker.connectionFactory();
    this.faults = broker.faults();
  }

  @Test
  void applicationsTogetherKeepToTheSlots() throws IOException {
    var receiver = start("receiver", "server.port=0");
    String uri = "http://localhost:" + receiver.getEnvironment().getProperty("local.server.port");
    startWorker(uri, SLOTS);
    RabbitTemplate work = startWorker(uri, SLOTS).getBean(RabbitTemplate.class);
    List<String> names = new ImageFolder(IMAGES).names().subList(0, 9);
    names.forEach(name -> work.convertAndSend(workQueue, name));

    UploadCount count = receiver.getBean(UploadCount.class);
    await()
        .atMost(Duration.ofMinutes(3))
        .until(() -> count.snapshot().images() == names.size() && count.snapshot().inFlight() == 0);
    assertThat(count.snapshot().most()).isEqualTo(SLOTS);
    assertThat(count.snapshot().failed()).isZero();
  }

  @Test
  void aFailedUploadReleasesItsSlot() throws IOException {
    HttpServer receiver = failingAtFirst();
    try {
      String uri = "http://localhost:" + receiver.getAddress().getPort();
      Uploader uploader = startWorker(uri, 1).getBean(Uploader.class);
      Thumbnail image =
          Thumbnail.of("any.jpg", new BufferedImage(960, 640, BufferedImage.TYPE_INT_RGB));
      assertThatExceptionOfType(HttpServerErrorException.class)
          .isThrownBy(() -> uploader.upload(image));
      // Would time out if the only slot were still held.
      uploader.upload(image);
    } finally {
      receiver.stop(0);
    }
  }

  @Test
  void whoGetsNoSlotInTimeLeavesTheImageToOthers() throws Exception {
    Uploader uploader =
        startWorker("http://localhost:1", 1, "sample.worker.patience=100ms")
            .getBean(Uploader.class);
    Thumbnail image =
        Thumbnail.of("any.jpg", new BufferedImage(960, 640, BufferedImage.TYPE_INT_RGB));
    try (AmqpLocks other = AmqpLocks.builder(broker).queuePrefix(prefix).build();
        Lease slot = other.tokenSemaphore("images").acquire(Duration.ofSeconds(30))) {
      assertThat(slot.slot()).isEqualTo(1);
      assertThatExceptionOfType(ImmediateRequeueAmqpException.class)
          .isThrownBy(() -> uploader.upload(image))
          .withCauseInstanceOf(LockException.AcquireTimeout.class);
    }
  }

  @Test
  void anOperatorResizesWhileWorkersRun() {
    var worker = startWorker("http://localhost:1", SLOTS);
    String uri =
        "http://localhost:%s/actuator/amqplocks/semaphore/images"
            .formatted(worker.getEnvironment().getProperty("local.server.port"));
    RestClient operator = RestClient.create(uri);
    String change =
        operator
            .post()
            .contentType(MediaType.APPLICATION_JSON)
            .body("{\"slots\": 7}")
            .retrieve()
            .body(String.class);
    assertThat(change).contains("resized from 3 to 7 slots");
    // What an administrator gives back, a queue has a moment later.
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(operator.get().retrieve().body(String.class)).contains("\"free\":7"));
  }

  @AfterEach
  void leaveNothingBehind() {
    applications.forEach(ConfigurableApplicationContext::close);
    faults.queues().stream()
        .map(BrokerQueue::name)
        .filter(queue -> queue.startsWith(prefix))
        .forEach(faults::deleteQueue);
  }

  private ConfigurableApplicationContext startWorker(String receiver, int slots) {
    return startWorker(receiver, slots, "sample.worker.patience=60s");
  }

  private ConfigurableApplicationContext startWorker(String receiver, int slots, String patience) {
    return start(
        "worker",
        "server.port=0",
        "sample.worker.queue=" + workQueue,
        "sample.worker.folder=" + IMAGES,
        "sample.worker.receiver=" + receiver,
        "amqp-locks.queue-prefix=" + prefix,
        "amqp-locks.semaphores.images.slots=" + slots,
        patience,
        // So slow that all slots are in use at once, however long a hand-over takes.
        "sample.worker.bytes-per-second=4KB");
  }

  /** Arguments, because they count more than application.yml does. */
  private ConfigurableApplicationContext start(String profile, String... properties) {
    List<String> arguments = new ArrayList<>();
    List.of(properties).forEach(property -> arguments.add("--" + property));
    // Also where the test itself runs in a pod, in which the endpoint is read-only.
    arguments.add("--spring.main.cloud-platform=none");
    arguments.add("--spring.rabbitmq.host=" + broker.getHost());
    arguments.add("--spring.rabbitmq.port=" + broker.getPort());
    arguments.add("--spring.rabbitmq.username=" + broker.getUsername());
    arguments.add("--spring.rabbitmq.password=" + broker.getPassword());
    arguments.add("--spring.rabbitmq.virtual-host=" + broker.getVirtualHost());
    var application =
        new SpringApplicationBuilder(SampleApplication.class)
            .profiles(profile)
            .run(arguments.toArray(String[]::new));
    applications.add(application);
    return application;
  }

  private static HttpServer failingAtFirst() throws IOException {
    AtomicInteger requests = new AtomicInteger();
    InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    HttpServer server = HttpServer.create(anyPort, 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(requests.incrementAndGet() == 1 ? 500 : 204, -1);
          exchange.close();
        });
    server.start();
    return server;
  }
}
