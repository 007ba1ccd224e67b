package io.amqplocks.prover.run;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.prover.driver.ConsumedQueue;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.run.Plan.Harm;
import io.amqplocks.prover.run.Plan.Slots;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerFaults;
import io.amqplocks.test.BrokerQueue;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an operator, a defect of the server, or a stranger does to the queues of locks while the
 * broker runs. Queues are known by their names, as {@code docs/PROTOCOL.md} has them. Counters,
 * records and ledgers are left alone: without them the locks stay closed until somebody repairs
 * them.
 */
// More than 300 lines: half of them say which queues whose locks have.
final class QueueHarm {

  /** Those whose queues are messages' places, and not an owner's. */
  private static final Set<Kind> WITH_MESSAGES =
      EnumSet.of(
          Kind.MUTEX,
          Kind.PERSISTENT_MUTEX,
          Kind.FENCED_MUTEX,
          Kind.CLASSIC_TOKENS,
          Kind.QUORUM_TOKENS,
          Kind.READ_WRITE_LOCK,
          Kind.SOLE_CONSUMER,
          Kind.FENCED_SOLE_CONSUMER,
          Kind.ACTIVE_QUEUE);

  /** Those that declare their queue again when it is gone. */
  private static final Set<Kind> DECLARED_BY_HOLDERS =
      EnumSet.of(
          Kind.MUTEX,
          Kind.EXCLUSIVE_QUEUE_MUTEX,
          Kind.SLOT_SEMAPHORE,
          Kind.READ_WRITE_LOCK,
          Kind.SOLE_CONSUMER,
          Kind.ACTIVE_QUEUE);

  private static final Set<Kind> ON_QUORUM_QUEUES =
      EnumSet.of(Kind.FENCED_MUTEX, Kind.FENCED_SOLE_CONSUMER, Kind.QUORUM_TOKENS);

  /** A quorum queue's process is not killed again before that. */
  private static final long CRASH_AGAIN = Duration.ofSeconds(6).toNanos();

  private static final Logger log = LoggerFactory.getLogger(QueueHarm.class);

  private final Plan plan;
  private final Site site;
  private final Broker broker;
  private final String prefix;
  private final History history;
  private final Map<String, Long> crashed = new ConcurrentHashMap<>();

  QueueHarm(Plan plan, Site site, String prefix, History history) {
    this.plan = plan;
    this.site = site;
    broker = site.home(plan);
    this.prefix = prefix;
    this.history = history;
  }

  /** Does it, and writes it down. If there is nothing to do it to, nothing is done. */
  void carryOut(Harm harm) {
    Random random = new Random(plan.seed() ^ harm.begin().toNanos());
    BrokerFaults faults = broker.faults();
    switch (harm.what()) {
      case CLOSE -> closeConnections(harm, random);
      case ALARM -> lasting(harm, () -> faults.memoryAlarm(true), () -> faults.memoryAlarm(false));
      case POLICY ->
          lasting(
              harm,
              () -> faults.setPolicy(prefix, "^" + prefix, "queues", policy(random)),
              () -> faults.clearPolicy(prefix));
      case QUEUE_CRASH ->
          WITH_MESSAGES.forEach(
              kind ->
                  toOneOf(harm, held(EnumSet.of(kind)).and(this::canCrash), random, this::crash));
      case QUEUE_DELETE -> deleteQueues(harm, random);
      case GATE_CRASH -> toOneOf(harm, this::isGateOf, random, this::crash);
      case GATE_DELETE -> deleteGates(harm, random);
      case CONSUMED_CRASH ->
          toOneOf(
              harm,
              ((BiPredicate<String, LockRef>) this::isConsumedBy).and(this::canCrash),
              random,
              this::crash);
      case LINK_DROP -> toOneOf(harm, held(ON_QUORUM_QUEUES), random, faults::dropLinkTo);
      case STRANGER ->
          beAStranger(harm, random, held(EnumSet.allOf(Kind.class)).or(others()), this::publish);
      case READER ->
          beAStranger(harm, random, held(WITH_MESSAGES).or(others()), this::getAndGiveBack);
      default -> throw new IllegalArgumentException("Not done to queues: " + harm);
    }
  }

  /**
   * RabbitMQ gives up the process of a quorum queue that it has to start three times within five
   * seconds (Ra's {@code ra_server_sup}). A start that fails counts. The queue is gone then until
   * the node is started again, and nobody can hold the lock.
   */
  private boolean canCrash(String queue, LockRef lock) {
    Long last = crashed.get(queue);
    boolean mayBeQuorum = ON_QUORUM_QUEUES.contains(lock.kind()) || lock.kind().consumes();
    return !mayBeQuorum || last == null || System.nanoTime() - last > CRASH_AGAIN;
  }

  private void crash(String queue) {
    crashed.put(queue, System.nanoTime());
    site.crashQueue(queue);
  }

  /** One that changes nothing for a lock. Mirroring starts another process for each queue. */
  private String policy(Random random) {
    boolean canMirror = !broker.version().isAtLeast(4, 0);
    return canMirror && random.nextBoolean() ? "{\"ha-mode\":\"all\"}" : "{\"max-length\":100000}";
  }

  /** All clients have the same names for their connections. */
  private void closeConnections(Harm harm, Random random) {
    List<String> names =
        broker.faults().connections().stream().filter(this::isOfClients).distinct().toList();
    if (!names.isEmpty()) {
      String name = names.get(random.nextInt(names.size()));
      once(harm, null, () -> broker.faults().closeConnections(name, "prover"));
    }
  }

  private boolean isOfClients(String connection) {
    return (connection.startsWith("prover") && !connection.startsWith("prover-"))
        || connection.startsWith("amqp-locks consumer of " + prefix);
  }

  private interface Deed {
    void to(String queue);
  }

  private void toOneOf(Harm harm, BiPredicate<String, LockRef> whose, Random random, Deed deed) {
    List<Place> places = places(whose);
    if (!places.isEmpty()) {
      Place place = places.get(random.nextInt(places.size()));
      once(harm, place.lock(), () -> deed.to(place.queue()));
    }
  }

  /** To one lock of each kind: it harms no other lock, and a round has few such faults. */
  private void toOneOfEach(Harm harm, Set<Kind> kinds, Random random, Deed deed) {
    kinds.forEach(kind -> toOneOf(harm, held(EnumSet.of(kind)), random, deed));
  }

  /** Again and again: to be harmful, it must happen while somebody holds and others come. */
  private void deleteGates(Harm harm, Random random) {
    long end = System.nanoTime() + harm.length().toNanos();
    do {
      toOneOf(harm, this::isGateOf, random, broker.faults()::deleteQueue);
      Round.pause(Duration.ofMillis(10L + random.nextInt(90)));
    } while (System.nanoTime() < end);
  }

  /** Again and again, with times in between in which it excuses nothing any more. */
  private void deleteQueues(Harm harm, Random random) {
    long end = System.nanoTime() + harm.length().toNanos();
    do {
      toOneOfEach(harm, DECLARED_BY_HOLDERS, random, broker.faults()::deleteQueue);
      Round.pause(Duration.ofMillis(800L + random.nextInt(700)));
    } while (System.nanoTime() < end);
  }

  /** A queue, and whose it is. */
  private record Place(LockRef lock, String queue) {}

  /** The queues that a holder of one of these kinds of locks has, consumes, or has messages of. */
  private BiPredicate<String, LockRef> held(Set<Kind> kinds) {
    return (queue, lock) -> kinds.contains(lock.kind()) && isHeldBy(queue, lock);
  }

  /** The queues that nobody holds a lock by. */
  private BiPredicate<String, LockRef> others() {
    return ((BiPredicate<String, LockRef>) this::isGateOf).or(this::isConsumedBy);
  }

  private boolean isConsumedBy(String queue, LockRef lock) {
    return lock.kind().consumes() && queue.equals(ConsumedQueue.of(prefix, lock).name());
  }

  private boolean isGateOf(String queue, LockRef lock) {
    return lock.kind() == Kind.READ_WRITE_LOCK
        && queue.equals(prefix + "read-write-gate." + lock.name());
  }

  private List<Place> places(BiPredicate<String, LockRef> whose) {
    List<Place> result = new ArrayList<>();
    for (BrokerQueue queue : broker.faults().queues()) {
      for (Slots each : plan.locks()) {
        if (whose.test(queue.name(), each.lock())) {
          result.add(new Place(each.lock(), queue.name()));
        }
      }
    }
    return result;
  }

  /** Whether who has the queue, its consumer or its messages has the lock. */
  private boolean isHeldBy(String queue, LockRef lock) {
    return switch (lock.kind()) {
      case MUTEX, EXCLUSIVE_QUEUE_MUTEX, SOLE_CONSUMER, ACTIVE_QUEUE ->
          queue.equals(prefix + "mutex." + lock.name());
      case PERSISTENT_MUTEX -> queue.equals(prefix + "persistent-mutex." + lock.name());
      case FENCED_MUTEX, FENCED_SOLE_CONSUMER ->
          queue.startsWith(prefix + "fenced-mutex." + lock.name() + ".tokens.");
      case SLOT_SEMAPHORE -> queue.startsWith(prefix + "semaphore." + lock.name() + ".holder.");
      case CLASSIC_TOKENS, QUORUM_TOKENS ->
          queue.startsWith(prefix + "token-semaphore." + lock.name() + ".tokens.");
      case READ_WRITE_LOCK -> queue.equals(prefix + "read-write." + lock.name());
    };
  }

  private interface StrangersDeed {
    void to(Channel channel, String queue, Random random) throws IOException;
  }

  private void beAStranger(
      Harm harm, Random random, BiPredicate<String, LockRef> whose, StrangersDeed deed) {
    long from = System.nanoTime();
    long end = from + harm.length().toNanos();
    while (System.nanoTime() < end) {
      try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
        for (List<Place> places = places(whose);
            System.nanoTime() < end && connection.isOpen();
            places = places(whose)) {
          doTo(connection, places, random, deed);
        }
      } catch (IOException
          | TimeoutException
          | ShutdownSignalException
          | IllegalStateException closed) {
        // RabbitMQ 3.10 answers some of this by closing the connection. Or the broker is down.
        Round.pause(Duration.ofMillis(10));
      }
    }
    history.suffered(new FaultSpan(harm.what().label(), from, System.nanoTime()));
  }

  /** To twenty of them, by one channel; to fewer if one is somebody's own, or gone. */
  private static void doTo(
      Connection connection, List<Place> places, Random random, StrangersDeed deed)
      throws IOException, TimeoutException {
    Round.pause(Duration.ofMillis(10));
    try (Channel channel = connection.createChannel()) {
      for (int i = 0; i < 20 && !places.isEmpty() && channel.isOpen(); i++) {
        deed.to(channel, places.get(random.nextInt(places.size())).queue(), random);
        Round.pause(Duration.ofMillis(random.nextInt(30)));
      }
    }
  }

  private void publish(Channel channel, String queue, Random random) throws IOException {
    byte[] body = new byte[random.nextInt(10) == 0 ? 200_000 : random.nextInt(100)];
    random.nextBytes(body);
    AMQP.BasicProperties.Builder properties = new AMQP.BasicProperties.Builder();
    if (random.nextBoolean()) {
      properties.headers(Map.of("slot", random.nextInt(4), "from", "a stranger")).deliveryMode(2);
    }
    channel.basicPublish("", queue, properties.build(), body);
  }

  /** As the management plugin does for who wants to see what is in a queue. */
  private void getAndGiveBack(Channel channel, String queue, Random random) throws IOException {
    GetResponse message = channel.basicGet(queue, false);
    if (message != null) {
      Round.pause(Duration.ofMillis(random.nextInt(100)));
      channel.basicNack(message.getEnvelope().getDeliveryTag(), false, true);
    }
  }

  private void once(Harm harm, @Nullable LockRef lock, Runnable deed) {
    long from = System.nanoTime();
    try {
      deed.run();
    } catch (IllegalStateException e) {
      // Gone between the look at the queues and now; or done, and the answer did not come. So it
      // counts.
      log.debug("{} may not have been done", harm, e);
    }
    history.suffered(new FaultSpan(harm.what().label(), from, System.nanoTime(), lock));
  }

  private void lasting(Harm harm, Runnable begin, Runnable end) {
    try {
      Round.during(harm, begin, end, history::suffered);
    } catch (IllegalStateException e) {
      // It may be in force all the same, and would be in all rounds that follow.
      try {
        end.run();
      } catch (IllegalStateException again) {
        throw new CompletionException(harm + " may be in force still", again);
      }
      throw e;
    }
  }
}
