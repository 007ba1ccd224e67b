package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What there is of a process that holds one lock of each kind and does nothing else: its
 * connections (ADR 62), and the queues that many fenced keys have left (ADR 64). Idle connections
 * are closed after two to three minutes, and queues of mutexes expire after one, so the row waits.
 */
record AtRest() implements RowSource {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration REST = Duration.ofMinutes(4);
  private static final int KEYS = 1_000;
  private static final int CONNECTIONS = 2;

  @Override
  public String name() {
    return "at rest: connections, and queues of keys";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    List<Socket> sockets = new CopyOnWriteArrayList<>();
    ConnectionFactory factory = lab.factory();
    factory.setSocketConfigurator(factory.getSocketConfigurator().andThen(sockets::add));
    AmqpLocks locks = lab.closing(lab.builder(factory).build());
    List<String> queues = useKeys(lab, locks);
    List<Lease> leases = hold(lab, locks);
    long inUse = open(sockets);
    Connection bare = lab.connection();
    long queuesAtOnce = existing(bare, queues);
    rows.accept(
        new Row(
            "connections, a lock of each kind in use",
            Unit.COUNT,
            inUse,
            Double.NaN,
            Goal.NONE,
            lab.quick() ? "at rest: not measured with --quick" : ""));
    if (!lab.quick()) {
      long start = System.nanoTime();
      while (open(sockets) > CONNECTIONS && System.nanoTime() - start < REST.toNanos()) {
        TimeUnit.SECONDS.sleep(1);
      }
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      rows.accept(
          new Row(
              "  at rest, all of them held",
              Unit.COUNT,
              open(sockets),
              Double.NaN,
              Goal.atMost(CONNECTIONS, Unit.COUNT),
              "after %d s".formatted(seconds)));
      rows.accept(
          new Row(
              "queues left by 1,000 fenced keys",
              Unit.COUNT,
              existing(bare, queues),
              queuesAtOnce,
              Goal.atMost(2 * FenceCounter.SHARED, Unit.COUNT),
              "all there were just after their use; what is left, they share"));
    }
    leases.forEach(Lease::close);
  }

  /** Uses each key once. All queues that may be left. */
  private static List<String> useKeys(Lab lab, AmqpLocks locks) throws Exception {
    List<String> queues = new ArrayList<>(lab.keyedFences(LockId.mutex("order")));
    QueueNames names = new QueueNames(lab.prefix());
    for (int key = 0; key < KEYS; key++) {
      AmqpLock mutex = locks.mutex("order:" + key);
      mutex.fenced().acquire(PATIENCE).close();
      queues.add(names.mutex(mutex.id().name()));
    }
    return queues;
  }

  private static List<Lease> hold(Lab lab, AmqpLocks locks) throws Exception {
    lab.persistentMutex(locks, "rest");
    lab.semaphore(locks, "rest", 2);
    lab.tokens(admin -> admin.fencedMutex("rest"), "fenced-mutex.rest");
    List<AmqpLock> mix = new ArrayList<>();
    for (TokenQueueType type : TokenQueueType.values()) {
      String name = "rest-" + type;
      lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
      locks.admin().tokenSemaphore(name).create(2, type);
      mix.add(locks.tokenSemaphore(name));
    }
    mix.add(locks.mutex("rest"));
    mix.add(locks.exclusiveQueueMutex("rest-exclusive"));
    mix.add(locks.persistentMutex("rest"));
    mix.add(locks.fencedMutex("rest"));
    mix.add(locks.readWriteLock("rest").readLock());
    mix.add(locks.slotSemaphore("rest"));
    List<Lease> leases = new ArrayList<>();
    for (AmqpLock lock : mix) {
      leases.add(lock.acquire(PATIENCE));
    }
    // Somebody may wait for the slot, and is notified.
    locks.slotSemaphore("rest").acquire(PATIENCE).close();
    return leases;
  }

  private static long open(List<Socket> sockets) {
    return sockets.stream().filter(socket -> !socket.isClosed()).count();
  }

  private static long existing(Connection connection, List<String> queues) throws Exception {
    long count = 0;
    Channel channel = connection.createChannel();
    for (String queue : queues) {
      try {
        int unused = new Raw(channel).consumers(queue);
        count++;
      } catch (IOException missing) {
        channel = connection.createChannel();
      }
    }
    channel.close();
    return count;
  }
}
