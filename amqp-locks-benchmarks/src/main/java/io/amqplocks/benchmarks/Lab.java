package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.TrafficListener;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Where one thing is measured: a broker, queue names of its own, and everything that is opened
 * there, closed at its end, last first.
 */
public final class Lab implements AutoCloseable {

  private static final Map<String, Object> KEEPS_NOTHING =
      Map.of("x-queue-type", "classic", "x-max-length", 0, "x-overflow", "drop-head");

  private final String uri;
  private final ConnectionFactory factory;
  private final boolean quick;
  private final Duration time;
  private final String prefix = "bench-" + UUID.randomUUID().toString().substring(0, 8) + ".";
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final List<String> queues = new ArrayList<>();

  /** One with the usual time. */
  public Lab(String uri, boolean quick) throws Exception {
    this(uri, quick, Duration.ofSeconds(quick ? 3 : 12));
  }

  /** One where two sides take turns for that long. */
  Lab(String uri, boolean quick, Duration time) throws Exception {
    this.uri = uri;
    this.quick = quick;
    this.time = time;
    factory = factory(uri);
  }

  /** One whose connections are all listened to. */
  Lab(String uri, TrafficListener wire) throws Exception {
    this(uri, true);
    factory.setTrafficListener(wire);
  }

  /** For connections that do not recover, as the locks need them. */
  public static ConnectionFactory factory(String uri) throws Exception {
    ConnectionFactory factory = new ListenedFactory();
    factory.setUri(uri);
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    return factory;
  }

  String uri() {
    return uri;
  }

  boolean quick() {
    return quick;
  }

  /** How long two sides take turns. */
  Duration time() {
    return time;
  }

  /** With which the names of all queues begin. */
  public String prefix() {
    return prefix;
  }

  ConnectionFactory factory() {
    return factory.clone();
  }

  AmqpLocksBuilder builder(ConnectionFactory to) {
    return AmqpLocks.builder(to).queuePrefix(prefix).connectionName("bench");
  }

  /** Another process, as the broker sees it. */
  public AmqpLocks locks() {
    return closing(builder(factory).build());
  }

  /** A bare connection. */
  Connection connection() throws Exception {
    return closing(factory.newConnection("bench floor"));
  }

  /** A channel on a bare connection of its own. */
  Channel channel() throws Exception {
    return connection().createChannel();
  }

  /** Closes it at the end. */
  <T extends AutoCloseable> T closing(T resource) {
    opened.push(resource);
    return resource;
  }

  /** A semaphore, destroyed at the end. */
  public void semaphore(AmqpLocks locks, String name, int slots) {
    locks.admin().slotSemaphore(name).create(slots);
    opened.push(() -> destroy(name));
  }

  private void destroy(String name) {
    try (AmqpLocks locks = builder(factory).build()) {
      locks.admin().slotSemaphore(name).destroy();
    }
  }

  /** A token semaphore or fenced mutex; its administrator destroys it at the end. */
  public void tokens(Function<LockAdmin, TokenSemaphoreAdmin> administrator, String family) {
    opened.push(
        () -> {
          try (AmqpLocks locks = builder(factory).build()) {
            administrator.apply(locks.admin()).destroy();
          }
        });
    // They outlive the semaphore, for good.
    leaving(prefix + family + ".record");
    leaving(prefix + family + ".ledger");
  }

  /** A persistent mutex, disabled at the end. */
  public void persistentMutex(AmqpLocks locks, String name) {
    locks.admin().persistentMutex(name).enable();
    queues.add(prefix + "persistent-mutex." + name);
  }

  /** The counters of a lock's fencing tokens, deleted at the end. */
  public void fence(LockId lock, int slots) {
    for (int slot = 1; slot <= slots; slot++) {
      fence(FenceCounter.of(lock, slot));
    }
  }

  /** The queues of the counters that the keys of a name share, deleted at the end. */
  List<String> keyedFences(LockId name) {
    return FenceCounter.sharedBy(name).stream().flatMap(counter -> fence(counter)).toList();
  }

  private Stream<String> fence(FenceCounter counter) {
    QueueNames names = new QueueNames(prefix);
    return Stream.of(leaving(names.counter(counter, 1)), leaving(names.epoch(counter, 1)));
  }

  /** Deletes the queue at the end, if it is there. */
  String leaving(String queue) {
    queues.add(queue);
    return queue;
  }

  /** A durable classic queue that keeps nothing, as slots are. */
  String durable(Channel channel, String name) throws Exception {
    String queue = leaving(prefix + "floor." + name);
    channel.queueDeclare(queue, true, false, false, KEEPS_NOTHING);
    return queue;
  }

  /** The arguments of a lock's queue: the floor must not ask for less than we do. */
  static Map<String, Object> keepsNothing() {
    return KEEPS_NOTHING;
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
    if (!queues.isEmpty()) {
      try (Connection connection = factory.newConnection("bench end")) {
        Channel channel = connection.createChannel();
        for (String queue : queues) {
          channel.queueDelete(queue);
        }
      }
    }
  }
}
