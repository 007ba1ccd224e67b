package io.amqplocks.sample.demo;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.sample.SampleApplication;
import io.amqplocks.sample.images.ImageFolder;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import io.amqplocks.test.OwnedBroker;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;

/** All that runs in one demo: a broker, the receiver and the workers, each in its own process. */
final class Stage {

  private final OwnedBroker broker;
  private final DemoQueues queues;
  private final Receiver receiver;
  private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();
  private final SlotBoard board = new SlotBoard();

  /**
   * Starts everything; when this returns, the workers wait for work.
   *
   * @param belongings takes each thing as soon as it is there, and ends it
   */
  Stage(DemoOptions options, ImageFolder images, Screen screen, Belongings belongings)
      throws IOException, TimeoutException {
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
        "RabbitMQ %s on port %d, receiver on %s"
            .formatted(broker.version(), broker.port(), receiver.uri()));
    screen.progress("Starting the workers ...");
    for (int number = 1; number <= options.processes(); number++) {
      WorkerProcess worker = new WorkerProcess(number, worker(number, options, images), board);
      workers.add(worker);
      belongings.add(worker::close);
    }
    workers.forEach(WorkerProcess::awaitStarted);
    screen.say(
        "%d workers of %d threads share %d upload slots, %s"
            .formatted(workers.size(), DemoOptions.THREADS, options.slots(), how(options)));
  }

  private static String how(DemoOptions options) {
    return options.algorithm() == SemaphoreAlgorithm.TOKENS
        ? "tokens on a quorum queue"
        : "a queue each";
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

  /** The workers that have not been killed. */
  List<WorkerProcess> workers() {
    return workers;
  }

  /** Ends one worker as {@code kill -9} does. */
  void kill(int number) throws InterruptedException {
    WorkerProcess victim =
        workers.stream().filter(worker -> worker.number() == number).findAny().orElseThrow();
    board.kill(number, System.nanoTime());
    victim.killNow();
    workers.remove(victim);
  }

  private ChildJvmBuilder worker(int number, DemoOptions options, ImageFolder images) {
    ConnectionFactory settings = broker.connectionFactory();
    return program("worker")
        // By the environment: arguments can be seen by all users of the machine.
        .env("SPRING_RABBITMQ_HOST", settings.getHost())
        .env("SPRING_RABBITMQ_PORT", Integer.toString(settings.getPort()))
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
            "--amqp-locks.connection-name=worker " + number);
  }

  /** With little memory and quick to start: there may be many, on a small machine. */
  private static ChildJvmBuilder program(String role) {
    return ChildJvm.of(SampleApplication.class)
        .jvmArgs("-Xmx192m")
        .systemProperty("java.awt.headless", "true")
        .args("--spring.profiles.active=" + role, "--spring.main.banner-mode=off")
        // Health and metrics with all details are for this machine only.
        .args("--server.address=127.0.0.1");
  }
}
