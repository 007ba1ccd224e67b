package io.amqplocks.benchmarks.peers;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** This library. An address is the broker's URI, with the prefix of the queues as its fragment. */
final class AmqpLocksPeer {

  private AmqpLocksPeer() {}

  /** Creates all locks too, for the broker may be one that is to be left as it was. */
  static PeerServer start(@Nullable String line) throws Exception {
    if (line == null && Brokers.lines().isEmpty()) {
      throw new NotInstalledException("there is no RabbitMQ");
    }
    OwnedBroker broker = line == null ? Brokers.start() : Brokers.start(line);
    try {
      Lab lab = new Lab(broker.uri(), true);
      AmqpLocks locks = lab.locks();
      for (Scenario scenario : Scenario.values()) {
        createAll(lab, locks, scenario.lock());
      }
      return new PeerServer(
          "RabbitMQ " + broker.version(),
          broker.uri() + "#" + lab.prefix(),
          () -> processes(broker),
          () -> {
            try (broker) {
              lab.close();
            }
          });
    } catch (Exception | Error e) {
      broker.close();
      throw e;
    }
  }

  /** Erlang starts small ones too, for what could block it. */
  private static Stream<ProcessHandle> processes(OwnedBroker broker) {
    return broker.process().stream()
        .flatMap(server -> Stream.concat(Stream.of(server), server.descendants()));
  }

  private static void createAll(Lab lab, AmqpLocks locks, String name) {
    lab.fence(LockId.mutex(name), 1);
    lab.persistentMutex(locks, name);
    lab.fence(LockId.persistentMutex(name), 1);
    lab.semaphore(locks, name, Kind.SLOT_SEMAPHORE.slots());
    lab.fence(LockId.slotSemaphore(name), Kind.SLOT_SEMAPHORE.slots());
    for (TokenQueueType type : TokenQueueType.values()) {
      String tokens = tokens(type, name);
      lab.tokens(admin -> admin.tokenSemaphore(tokens), "token-semaphore." + tokens);
      locks.admin().tokenSemaphore(tokens).create(Kind.CLASSIC_TOKENS.slots(), type);
    }
    lab.tokens(admin -> admin.fencedMutex(name), "fenced-mutex." + name);
    // Its first acquire creates it.
    locks.fencedMutex(name).tryAcquire().orElseThrow().close();
  }

  private static String tokens(TokenQueueType type, String name) {
    return name + (type == TokenQueueType.CLASSIC ? "-classic" : "-quorum");
  }

  static PeerClient connect(String address) throws Exception {
    int fragment = address.lastIndexOf('#');
    ConnectionFactory factory = Lab.factory(address.substring(0, fragment));
    return connect(factory, address.substring(fragment + 1));
  }

  static PeerClient connect(ConnectionFactory factory, String prefix) {
    AmqpLocks locks =
        AmqpLocks.builder(factory).queuePrefix(prefix).connectionName("bench").build();
    return new Client(locks);
  }

  /** Its annotated methods are in an application of their own for each name. */
  private static final class Client implements PeerClient {
    private final AmqpLocks locks;
    private final Map<String, GuardedCalls> calls = new ConcurrentHashMap<>();

    Client(AmqpLocks locks) {
      this.locks = locks;
    }

    @Override
    public PeerLock lock(Kind kind, String name) {
      return switch (kind) {
        case MUTEX -> of(locks.mutex(name));
        case MUTEX_FENCED -> of(locks.mutex(name).fenced());
        case MUTEX_ANNOTATED -> calls(name).mutex();
        case PERSISTENT_MUTEX -> of(locks.persistentMutex(name));
        case PERSISTENT_MUTEX_FENCED -> of(locks.persistentMutex(name).fenced());
        case FENCED_MUTEX -> of(locks.fencedMutex(name));
        case WRITE_LOCK -> of(locks.readWriteLock(name).writeLock());
        case SLOT_SEMAPHORE -> of(locks.slotSemaphore(name));
        case SLOT_SEMAPHORE_FENCED -> of(locks.slotSemaphore(name).fenced());
        case CLASSIC_TOKENS -> of(tokens(TokenQueueType.CLASSIC, name));
        case CLASSIC_TOKENS_ANNOTATED -> calls(name).semaphore();
        case QUORUM_TOKENS -> of(tokens(TokenQueueType.QUORUM, name));
        case QUORUM_TOKENS_FENCED -> of(tokens(TokenQueueType.QUORUM, name).fenced());
        default -> throw new IllegalArgumentException("Not ours: " + kind);
      };
    }

    private AmqpLock tokens(TokenQueueType type, String name) {
      return locks.tokenSemaphore(AmqpLocksPeer.tokens(type, name));
    }

    private GuardedCalls calls(String name) {
      return calls.computeIfAbsent(
          name,
          mutex ->
              new GuardedCalls(locks, mutex, AmqpLocksPeer.tokens(TokenQueueType.CLASSIC, mutex)));
    }

    @Override
    public void close() {
      calls.values().forEach(GuardedCalls::close);
      locks.close();
    }
  }

  private static PeerLock of(AmqpLock lock) {
    return wait -> acquire(lock, wait);
  }

  private static Optional<AutoCloseable> acquire(AmqpLock lock, Duration wait)
      throws InterruptedException {
    try {
      return wait.isZero()
          ? lock.tryAcquire().map(AmqpLocksPeer::verifiable)
          : Optional.of(verifiable(lock.acquire(wait)));
    } catch (LockException.AcquireTimeout busy) {
      return Optional.empty();
    }
  }

  private static AutoCloseable verifiable(Lease lease) {
    return new VerifiableLease(() -> lease.verify() == LeaseState.HELD, lease);
  }
}
