package io.amqplocks.support;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.AmqpLocksBuilder;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Locks for one test, under a prefix of its own.
 *
 * <p>In a {@code @BrokerTest} it is a field, {@code @RegisterExtension private final Fixture
 * fixture = new Fixture();}: it has the broker of the run from before the first {@code @BeforeEach}
 * on, and after the last {@code @AfterEach} it closes the locks and deletes every queue under the
 * prefix. A test that starts brokers itself makes one with a broker, says which queues will be
 * there, and closes it.
 */
public final class Fixture implements BeforeEachCallback, AfterEachCallback, AutoCloseable {

  /**
   * Far above what a stalled machine needs for anything. A test that waits until a call is given up
   * or a lease expires sets less, and may see that too early where it does not look for it.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private @Nullable Broker broker;
  private final String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";
  private final Deque<AmqpLocks> opened = new ArrayDeque<>();
  private final Map<String, Integer> semaphores = new HashMap<>();
  private final Set<String> queues = new HashSet<>();

  public Fixture() {}

  public Fixture(Broker broker) {
    this.broker = broker;
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    Method asked = Fixture.class.getDeclaredMethod("given", Broker.class);
    broker = (Broker) context.getExecutableInvoker().invoke(asked);
  }

  /** Called by JUnit, which fills in the broker as it does for tests. */
  @SuppressWarnings("UnusedMethod")
  private static Broker given(Broker broker) {
    return broker;
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    close();
    if (context.getRequiredTestClass().getAnnotation(BrokerTest.class).embedded()) {
      // It ends with this JVM, and nobody can look into it.
      return;
    }
    try (Connection connection = stranger()) {
      Channel channel = connection.createChannel();
      for (BrokerQueue queue : broker().faults().queues()) {
        // An exclusive one goes with its connection, and is not ours to delete before.
        if (queue.name().startsWith(prefix) && !queue.exclusive()) {
          channel.queueDelete(queue.name());
        }
      }
    }
  }

  /** The broker of this test. */
  public Broker broker() {
    return Objects.requireNonNull(broker, "the test has not begun");
  }

  public String prefix() {
    return prefix;
  }

  public QueueNames names() {
    return new QueueNames(prefix);
  }

  public AmqpLocksBuilder builder() {
    return builder(broker().connectionFactory());
  }

  public AmqpLocksBuilder builder(ConnectionFactory factory) {
    return AmqpLocks.builder(factory)
        .queuePrefix(prefix)
        .heartbeat(PATIENCE)
        .callTimeout(PATIENCE)
        .verifyEvery(Duration.ofSeconds(1));
  }

  /**
   * What happens within it was told at once, on a busy machine too: those who verify seldom would
   * find it out after half a minute, a call would end after ten seconds, and by heartbeats it would
   * take two minutes.
   */
  public static final Duration AT_ONCE = Duration.ofSeconds(9);

  /** For tests of what holders are told. */
  public AmqpLocksBuilder seldomVerifying() {
    return seldomVerifying(broker().connectionFactory());
  }

  /** The same, by a way of their own to the broker. */
  public AmqpLocksBuilder seldomVerifying(ConnectionFactory factory) {
    Duration heartbeat = Duration.ofMinutes(1);
    return builder(factory).heartbeat(heartbeat).verifyEvery(heartbeat.dividedBy(2));
  }

  public AmqpLocks open() {
    return open(builder());
  }

  /**
   * With calls of a minute. Whoever finds something being created or moved waits for a part of a
   * call, and then goes on without it.
   */
  public AmqpLocks patient() {
    Duration time = Duration.ofMinutes(1);
    return open(builder().heartbeat(time).callTimeout(time));
  }

  public AmqpLocks open(AmqpLocksBuilder builder) {
    AmqpLocks locks = builder.build();
    opened.push(locks);
    return locks;
  }

  /**
   * The same, with a connection: to open it may take longer than a call whose bound is short, and
   * whoever waits for a lock fails at once if it was never there.
   */
  public AmqpLocks connected(AmqpLocksBuilder builder) {
    AmqpLocks locks = open(builder);
    Awaitility.await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(
            () -> {
              locks.connect();
              return true;
            });
    return locks;
  }

  /**
   * The first lease of locks whose calls have a short bound, in which not all connections that it
   * takes may come about, or of a lock whose release may still be on its way. In a token semaphore
   * another holder, which verifies for the first time, may have the last idle token just then. It
   * is tried for again and again.
   */
  public static Lease first(AmqpLock lock) {
    return Awaitility.await()
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(lock::tryAcquire, Optional::isPresent)
        .orElseThrow();
  }

  /** Closes all connections of a client of that connection name but those of its leases. */
  public void closeConnectionsThatHoldNothing(String connectionName) {
    broker().faults().connections().stream()
        .filter(name -> name.startsWith(connectionName + " ") && !name.endsWith(" holder"))
        .distinct()
        .forEach(name -> broker().faults().closeConnections(name, "a test"));
  }

  /** Waits until a queue has so many consumers, as the broker counts. */
  public void awaitConsumers(String queue, int number) {
    awaitConsumers(queue, number, Duration.ofSeconds(30));
  }

  /**
   * As {@link #awaitConsumers(String, int)}.
   *
   * @param patience how long that may take; a JVM may have to start
   */
  public void awaitConsumers(String queue, int number, Duration patience) {
    Awaitility.await()
        .atMost(patience)
        .until(
            () ->
                broker().faults().queues().stream()
                    .anyMatch(each -> each.name().equals(queue) && each.consumers() == number));
  }

  /** Creates a semaphore, to be deleted at the end. */
  public void create(AmqpLocks locks, String name, int slots) {
    willExist(name, slots);
    locks.admin().slotSemaphore(name).create(slots);
  }

  /** Enables a persistent mutex, to be disabled at the end. */
  public void enable(AmqpLocks locks, String name) {
    willStay(names().persistentMutex(LockName.of(name)));
    locks.admin().persistentMutex(name).enable();
  }

  /** Registers a durable queue for deletion. */
  public void willStay(String queue) {
    queues.add(queue);
  }

  /** Registers a semaphore for deletion, however many of its slots come about. */
  public void willExist(String name, int slots) {
    semaphores.merge(name, slots, Math::max);
  }

  /** A connection that is none of the library's. */
  public Connection stranger() throws Exception {
    return broker().connectionFactory().newConnection("stranger");
  }

  /** Whether a queue is there, asked by a stranger: an exclusive one counts as there. */
  public boolean exists(String queue) throws Exception {
    try (Connection connection = broker().connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      try {
        channel.queueDeclarePassive(queue);
        return true;
      } catch (IOException e) {
        return String.valueOf(e.getCause()).contains("RESOURCE_LOCKED");
      }
    }
  }

  /** Deletes a queue as a client would. */
  public void delete(String queue) throws Exception {
    try (Connection connection = broker().connectionFactory().newConnection("stranger")) {
      connection.createChannel().queueDelete(queue);
    }
  }

  /** Closes the locks, and deletes nothing: for a broker that is about to be thrown away. */
  public void closeLocks() {
    opened.forEach(AmqpLocks::close);
  }

  @Override
  public void close() throws Exception {
    closeLocks();
    if (semaphores.isEmpty() && queues.isEmpty()) {
      return;
    }
    try (Connection connection = broker().connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      for (String queue : queues) {
        channel.queueDelete(queue);
      }
      for (Map.Entry<String, Integer> each : semaphores.entrySet()) {
        for (int slot = 1; slot <= each.getValue(); slot++) {
          channel.queueDelete(names().slot(LockName.of(each.getKey()), slot));
        }
      }
    }
  }
}
