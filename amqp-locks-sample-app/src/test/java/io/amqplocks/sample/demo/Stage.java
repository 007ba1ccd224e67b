package io.amqplocks.sample.demo;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.sample.SampleApplication;
import io.amqplocks.sample.images.ImageFolder;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import io.amqplocks.test.OwnedBroker;
import io.amqplocks.test.TcpProxy;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All that runs in one demo: a broker, the receiver and the workers, each in its own process. The
 * main thread shows it, while threads of the page change it: the list of workers is for both, and
 * whoever takes a worker out of it is the one who ends that worker.
 */
final class Stage implements Controls {

  private final DemoOptions options;
  private final ImageFolder images;
  private final Belongings belongings;
  private final OwnedBroker broker;
  private final DemoQueues queues;
  private final Receiver receiver;
  private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
  private final ReentrantLock resizing = new ReentrantLock();
  private final AtomicInteger hired = new AtomicInteger();
  private final SlotBoard board = new SlotBoard();
  private final EventLog events = new EventLog();
  private final SlotNumbers slots;

  /**
   * Starts everything; when this returns, the workers wait for work.
   *
   * @param belongings takes each thing as soon as it is there, and ends it
   */
  Stage(DemoOptions options, ImageFolder images, Screen screen, Belongings belongings)
      throws IOException, TimeoutException {
    this.options = options;
    this.images = images;
    this.belongings = belongings;
    this.slots = new SlotNumbers(options.slots());
    screen.progress("Starting a broker and the receiver ...");
    // Needs no broker, and so can start at the same time as one.
    ChildJvm receiving = program("receiver").args("--server.port=0").start();
    belongings.add(receiving::close);
    String line = options.brokerLine();
    this.broker = line == null ? Brokers.start() : Brokers.start(line);
    belongings.add(broker::close);
    this.queues = new DemoQueues(broker);
    belongings.add(queues::close);
    queues.declare();
    this.receiver = Receiver.await(receiving);
    screen.say(
        "%s on port %d, receiver on %s".formatted(brokerName(), broker.port(), receiver.uri()));
    screen.progress("Starting the workers ...");
    for (int worker = 0; worker < options.processes(); worker++) {
      hire();
    }
    workers.forEach(WorkerProcess::awaitStarted);
    screen.say(
        "%d workers of %d threads share %d upload slots, %s"
            .formatted(workers.size(), DemoOptions.THREADS, options.slots(), kind()));
  }

  /** Which broker it is. */
  String brokerName() {
    return broker.product() + " " + broker.version();
  }

  /** How the broker keeps the slots. */
  String kind() {
    return options.algorithm() == SemaphoreAlgorithm.TOKENS
        ? "tokens on a %s queue".formatted(queueType().name().toLowerCase(Locale.ROOT))
        : "a queue each";
  }

  /** The broker in this JVM has no quorum queues. */
  private TokenQueueType queueType() {
    return broker.product().equals("RabbitMQ") ? TokenQueueType.QUORUM : TokenQueueType.CLASSIC;
  }

  DemoQueues queues() {
    return queues;
  }

  Receiver receiver() {
    return receiver;
  }

  SlotBoard board() {
    return board;
  }

  EventLog events() {
    return events;
  }

  SlotNumbers slots() {
    return slots;
  }

  /** The workers that have not been killed. */
  List<WorkerProcess> workers() {
    return workers;
  }

  /** Ends one worker as {@code kill -9} does; false if somebody else did already. */
  boolean kill(int number) throws InterruptedException {
    WorkerProcess victim = find(number);
    if (victim == null || !workers.remove(victim)) {
      return false;
    }
    int holding = board.holding(number);
    board.kill(number, System.nanoTime());
    victim.killNow();
    events.add(
        Scene.Event.Kind.KILLED,
        "worker %d killed (kill -9), while holding %d %s"
            .formatted(number, holding, holding == 1 ? "slot" : "slots"));
    return true;
  }

  @Override
  public void replace(int number) throws InterruptedException {
    if (!kill(number)) {
      throw new IllegalArgumentException("There is no worker " + number);
    }
    WorkerProcess successor = hire();
    long begin = System.nanoTime();
    Thread starting =
        new Thread(
            () -> {
              successor.awaitStarted();
              events.add(
                  Scene.Event.Kind.STARTED,
                  "worker %d started, in place of worker %d, after %d ms"
                      .formatted(
                          successor.number(),
                          number,
                          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin)));
            },
            "demo-worker-start");
    starting.setDaemon(true);
    // The page goes on to say that it is starting. If its process has ended, the demo ends too.
    starting.setUncaughtExceptionHandler((thread, failed) -> {});
    starting.start();
  }

  @Override
  public void cut(int number) {
    WorkerProcess worker = find(number);
    if (worker == null) {
      throw new IllegalArgumentException("There is no worker " + number);
    }
    worker.cut();
    events.add(Scene.Event.Kind.CUT, "worker %d: connections to the broker cut".formatted(number));
  }

  /** One after the other, or the page could end up with a number that is not the broker's. */
  @Override
  public void resize(int count) {
    resizing.lock();
    try {
      int before = slots.willBe(count);
      queues.resize(options.algorithm(), count);
      slots.are(count);
      if (before != count) {
        events.add(Scene.Event.Kind.RESIZED, "%d slots now, %d before".formatted(count, before));
      }
    } finally {
      resizing.unlock();
    }
  }

  private @Nullable WorkerProcess find(int number) {
    return workers.stream().filter(worker -> worker.number() == number).findAny().orElse(null);
  }

  private WorkerProcess hire() {
    int number = hired.incrementAndGet();
    ConnectionFactory settings = broker.connectionFactory();
    // The certificate of a broker with TLS names the broker, not the proxy.
    TcpProxy link = settings.isSSL() ? null : TcpProxy.to(broker);
    WorkerProcess worker = new WorkerProcess(number, worker(number, settings, link), link, board);
    belongings.add(worker::close);
    workers.add(worker);
    return worker;
  }

  private ChildJvmBuilder worker(int number, ConnectionFactory settings, @Nullable TcpProxy link) {
    int port = link == null ? settings.getPort() : link.port();
    return program("worker")
        // By the environment: arguments can be seen by all users of the machine.
        .env("SPRING_RABBITMQ_HOST", link == null ? settings.getHost() : link.host())
        .env("SPRING_RABBITMQ_PORT", Integer.toString(port))
        .env("SPRING_RABBITMQ_USERNAME", settings.getUsername())
        .env("SPRING_RABBITMQ_PASSWORD", settings.getPassword())
        .env("SPRING_RABBITMQ_VIRTUALHOST", settings.getVirtualHost())
        .env("SPRING_RABBITMQ_SSL_ENABLED", Boolean.toString(settings.isSSL()))
        .args(
            "--sample.worker.receiver=" + receiver.uri(),
            "--sample.worker.queue=" + queues.work(),
            "--sample.worker.folder=" + images.path(),
            "--amqp-locks.queue-prefix=" + queues.prefix(),
            "--amqp-locks.semaphores.images.slots=" + options.slots(),
            "--amqp-locks.semaphores.images.algorithm=" + options.algorithm(),
            "--amqp-locks.semaphore-queue-type=" + queueType(),
            "--amqp-locks.connection-name=worker " + number);
  }

  /** With little memory and quick to start: there may be many, on a small machine. */
  private static ChildJvmBuilder program(String role) {
    return ChildJvm.of(SampleApplication.class)
        .jvmArgs("-Xmx192m")
        .systemProperty("java.awt.headless", "true")
        .args("--spring.profiles.active=" + role, "--spring.main.banner-mode=off")
        // Health and metrics with all details are for this machine only.
        .args("--server.address=127.0.0.1")
        // Also where the demo itself runs in a pod, in which the workers share an address.
        .args("--spring.main.cloud-platform=none");
  }
}
