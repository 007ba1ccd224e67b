package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How the connections come about, and what they share with the application: nothing. */
@BrokerTest(everyLine = true)
class ConnectingTest {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  /** Its one I/O thread would bring the word of the loss, were it not for the listener. */
  @Tag("defect-S6")
  @Test
  void anApplicationThatBlocksItsOwnThreadsDelaysNoWordOfALoss(Broker broker) throws Exception {
    ScheduledThreadPoolExecutor heartbeats = new ScheduledThreadPoolExecutor(1);
    ConnectionFactory factory = withOneThread(broker, heartbeats);
    CountDownLatch over = new CountDownLatch(1);
    try (Connection applications = factory.newConnection("application")) {
      AmqpLocks locks =
          fixture.open(
              fixture
                  .builder(factory)
                  .heartbeat(Duration.ofMinutes(1))
                  .verifyEvery(Duration.ofSeconds(30)));
      Lease lease = locks.mutex("m").tryAcquire().orElseThrow();
      blockItsThread(applications, over);
      broker.faults().deleteQueue(fixture.names().mutex(LockName.of("m")));
      // Verification would say so after 30 s, the heartbeat after two minutes.
      assertThat(lease.whenLost().toCompletableFuture().get(15, TimeUnit.SECONDS)).isNotNull();
      try (Lease other =
          fixture.open(fixture.builder(factory)).mutex("n").tryAcquire().orElseThrow()) {
        assertThat(other.verify()).isEqualTo(LeaseState.HELD);
      }
      // Not in the queue while it beats.
      awaitOneBeat(heartbeats);
      over.countDown();
    } finally {
      over.countDown();
      heartbeats.shutdownNow();
    }
  }

  /** Its one I/O thread would bring the messages, and the answers to whoever asks for them. */
  @Test
  void anApplicationThatBlocksItsOwnThreadsHoldsUpNoSoleConsumer(Broker broker) throws Exception {
    ScheduledThreadPoolExecutor heartbeats = new ScheduledThreadPoolExecutor(1);
    ConnectionFactory factory = withOneThread(broker, heartbeats);
    CountDownLatch over = new CountDownLatch(1);
    CountDownLatch handled = new CountDownLatch(1);
    String queue = fixture.prefix() + "orders";
    try (Connection applications = factory.newConnection("application");
        Connection stranger = fixture.stranger()) {
      Channel publishing = stranger.createChannel();
      publishing.queueDeclare(queue, true, false, false, Map.of());
      AmqpLocks locks = fixture.open();
      try (SoleConsumer consumer =
          SoleConsumer.of(locks.mutex("m"), factory, queue, delivery -> handled.countDown())
              .build()) {
        consumer.start();
        assertThat(consumer.awaitActive(Duration.ofSeconds(30))).isTrue();
        blockItsThread(applications, over);
        publishing.basicPublish("", queue, new BasicProperties(), new byte[0]);
        assertThat(handled.await(15, TimeUnit.SECONDS)).isTrue();
        awaitOneBeat(heartbeats);
        over.countDown();
      }
    } finally {
      over.countDown();
      heartbeats.shutdownNow();
    }
  }

  @SuppressWarnings({"deprecation", "removal"})
  private static ConnectionFactory withOneThread(
      Broker broker, ScheduledThreadPoolExecutor heartbeats) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setNioParams(new com.rabbitmq.client.impl.nio.NioParams().setNbIoThreads(1));
    factory.useNio();
    factory.setHeartbeatExecutor(heartbeats);
    return factory;
  }

  /** Until that is over. */
  private void blockItsThread(Connection applications, CountDownLatch over) throws Exception {
    CountDownLatch blocked = new CountDownLatch(1);
    Channel channel = applications.createChannel();
    channel.addReturnListener(
        returned -> {
          blocked.countDown();
          boolean unused = awaitQuietly(over);
        });
    channel.basicPublish(
        "", fixture.prefix() + "nowhere", true, new BasicProperties(), new byte[0]);
    assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
  }

  private static void awaitOneBeat(ScheduledThreadPoolExecutor heartbeats) {
    await()
        .untilAsserted(
            () ->
                assertThat(heartbeats.getQueue())
                    .as("connections that it beats for: its own")
                    .hasSize(1));
  }

  private static boolean awaitQuietly(CountDownLatch latch) {
    try {
      return latch.await(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** However many nodes there are that take connections and say nothing. */
  @Tag("defect-S6")
  @Test
  void connectingIsBoundedByTheCallTimeout(Broker broker) throws Exception {
    try (TcpProxy silent = TcpProxy.to(broker)) {
      silent.blackHole(Direction.BOTH);
      List<Address> nodes = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        nodes.add(new Address(silent.host(), silent.port()));
      }
      AmqpLocks locks =
          fixture.open(fixture.builder().addresses(nodes).callTimeout(Duration.ofSeconds(1)));
      long start = System.nanoTime();
      assertThatThrownBy(() -> locks.mutex("m").tryAcquire())
          .isInstanceOfAny(LockException.Unanswered.class, LockException.Unreachable.class);
      // Half a second each would make twenty.
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(12));
    }
  }

  @Tag("defect-L3")
  @Test
  void allWhoWaitShareOneWayBack(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker);
        CountingListener down = new CountingListener()) {
      AmqpLocks locks =
          fixture.open(
              fixture
                  .builder()
                  .callTimeout(Duration.ofSeconds(2))
                  .addresses(
                      List.of(
                          new Address(proxy.host(), proxy.port()),
                          new Address("127.0.0.1", down.port()))));
      List<Lease> held = new ArrayList<>();
      await()
          .ignoreExceptions()
          .untilAsserted(() -> held.add(locks.mutex("first").tryAcquire().orElseThrow()));
      List<Future<Lease>> waiting = new ArrayList<>();
      proxy.refuse(true);
      proxy.cut();
      await().until(() -> held.get(0).state() == LeaseState.LOST);
      for (int i = 0; i < 50; i++) {
        String name = "m" + i;
        waiting.add(threads.submit(() -> locks.mutex(name).acquire(Duration.ofMinutes(1))));
      }
      await().until(() -> locks.status().waiting() == 50 && down.count() > 0);
      int before = down.count();
      long since = System.nanoTime();
      await().pollDelay(Duration.ofSeconds(10)).until(() -> true);
      double seconds = (System.nanoTime() - since) / 1e9;
      double rate = (down.count() - before) / seconds;
      System.out.printf("50 waiters, broker down: %.1f connection attempts a second%n", rate);
      // One waiter of old made ten a second, and fifty made hundreds.
      assertThat(rate).isBetween(0.3, 5.0);
      proxy.refuse(false);
      for (Future<Lease> each : waiting) {
        each.get(60, TimeUnit.SECONDS).close();
      }
    }
  }

  /** Takes connections and closes them, as a proxy does whose broker is down. */
  private static final class CountingListener implements AutoCloseable {
    private final ServerSocket socket;
    private final AtomicInteger count = new AtomicInteger();

    CountingListener() throws IOException {
      socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
      Thread thread = new Thread(this::accept, "counting-listener");
      thread.setDaemon(true);
      thread.start();
    }

    private void accept() {
      while (true) {
        try {
          socket.accept().close();
          count.incrementAndGet();
        } catch (IOException closed) {
          return;
        }
      }
    }

    int port() {
      return socket.getLocalPort();
    }

    int count() {
      return count.get();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Tag("defect-L5")
  @Test
  void aCloseThatMeetsTheFirstConnectLeavesNothingOpen(Broker broker) throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      proxy.delay(Direction.BROKER_TO_CLIENT, Duration.ofSeconds(1));
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      for (int i = 0; i < 3; i++) {
        AmqpLocks locks = fixture.open(fixture.builder(factory).connectionName("early"));
        Future<?> first = threads.submit(() -> locks.mutex("m").tryAcquire());
        Future<?> tokens =
            threads.submit(() -> locks.mutex("n").acquireAsync(Duration.ofSeconds(20)).join());
        await().until(() -> proxy.connections() > 0);
        locks.close();
        assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS))
            .hasCauseInstanceOf(LockException.Closed.class);
        assertThatThrownBy(() -> tokens.get(60, TimeUnit.SECONDS))
            .rootCause()
            .isInstanceOf(LockException.Closed.class);
        await().until(() -> proxy.connections() == 0);
      }
    }
  }
}
