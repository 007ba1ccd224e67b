package io.amqplocks.benchmarks.peers;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
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
import java.util.List;
import java.util.Locale;
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
        for (Kind kind : Kind.of(Peer.AMQP_LOCKS)) {
          if (scenario.suits(kind)) {
            create(lab, locks, kind, name(kind, scenario.lock()));
          }
        }
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

  private static void create(Lab lab, AmqpLocks locks, Kind kind, String name) {
    switch (kind) {
      case MUTEX, MUTEX_ANNOTATED, WRITE_LOCK -> {
        // It is there while somebody uses it.
      }
      case MUTEX_FENCED -> lab.fence(LockId.mutex(name), 1);
      case PERSISTENT_MUTEX -> lab.persistentMutex(locks, name);
      case PERSISTENT_MUTEX_FENCED -> {
        lab.persistentMutex(locks, name);
        lab.fence(LockId.persistentMutex(name), 1);
      }
      case FENCED_MUTEX -> {
        lab.tokens(admin -> admin.fencedMutex(name), "fenced-mutex." + name);
        // Its first acquire creates it.
        locks.fencedMutex(name).tryAcquire().orElseThrow().close();
      }
      case SLOT_SEMAPHORE -> lab.semaphore(locks, name, kind.slots());
      case SLOT_SEMAPHORE_FENCED -> {
        lab.semaphore(locks, name, kind.slots());
        lab.fence(LockId.slotSemaphore(name), kind.slots());
      }
      case CLASSIC_TOKENS, CLASSIC_TOKENS_ANNOTATED, QUORUM_TOKENS -> {
        lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
        TokenQueueType type =
            kind == Kind.QUORUM_TOKENS ? TokenQueueType.QUORUM : TokenQueueType.CLASSIC;
        locks.admin().tokenSemaphore(name).create(kind.slots(), type);
      }
      default -> throw new IllegalArgumentException("Not ours: " + kind);
    }
  }

  /**
   * The name of the lock that a kind has for a scenario's. Each has its own, so that no kind finds
   * what another one has left.
   */
  static String name(Kind kind, String name) {
    return switch (kind) {
      case CLASSIC_TOKENS -> name + "-classic";
      case QUORUM_TOKENS -> name + "-quorum";
      default ->
          kind.isVariant()
              ? name + "-" + kind.name().toLowerCase(Locale.ROOT).replace('_', '-')
              : name;
    };
  }

  static PeerClient connect(String address) throws Exception {
    int fragment = address.lastIndexOf('#');
    ConnectionFactory factory = Lab.factory(address.substring(0, fragment));
    return connect(factory, address.substring(fragment + 1));
  }

  static PeerClient connect(ConnectionFactory factory, String prefix) {
    AmqpLocks locks =
        AmqpLocks.builder(factory).queuePrefix(prefix).connectionName("bench").build();
    return new Client(factory, prefix, locks);
  }

  /** Its annotated methods are in an application of their own for each name. */
  private static final class Client implements PeerClient {
    private final ConnectionFactory factory;
    private final String prefix;
    private final AmqpLocks locks;
    private final Map<String, GuardedCalls> calls = new ConcurrentHashMap<>();

    Client(ConnectionFactory factory, String prefix, AmqpLocks locks) {
      this.factory = factory;
      this.prefix = prefix;
      this.locks = locks;
    }

    @Override
    public PeerLock lock(Kind kind, String scenarios) {
      String name = name(kind, scenarios);
      return switch (kind) {
        case MUTEX -> of(locks.mutex(name));
        case MUTEX_FENCED -> of(locks.mutex(name).fenced());
        case MUTEX_ANNOTATED -> calls(scenarios).mutex();
        case PERSISTENT_MUTEX -> of(locks.persistentMutex(name));
        case PERSISTENT_MUTEX_FENCED -> of(locks.persistentMutex(name).fenced());
        case FENCED_MUTEX -> of(locks.fencedMutex(name));
        case WRITE_LOCK -> of(locks.readWriteLock(name).writeLock());
        case SLOT_SEMAPHORE -> of(locks.slotSemaphore(name));
        case SLOT_SEMAPHORE_FENCED -> of(locks.slotSemaphore(name).fenced());
        case CLASSIC_TOKENS, QUORUM_TOKENS -> of(locks.tokenSemaphore(name));
        case CLASSIC_TOKENS_ANNOTATED -> calls(scenarios).semaphore();
        default -> throw new IllegalArgumentException("Not ours: " + kind);
      };
    }

    @Override
    public Semaphore semaphore(Kind kind, String scenarios, int slots) {
      String name = name(kind, scenarios);
      if (kind == Kind.SLOT_SEMAPHORE) {
        locks.admin().slotSemaphore(name).create(slots);
        return new Semaphore(
            of(locks.slotSemaphore(name)), () -> locks.admin().slotSemaphore(name).destroy());
      }
      TokenQueueType type =
          kind == Kind.QUORUM_TOKENS ? TokenQueueType.QUORUM : TokenQueueType.CLASSIC;
      locks.admin().tokenSemaphore(name).create(slots, type);
      return new Semaphore(of(locks.tokenSemaphore(name)), () -> destroyTokens(name));
    }

    /** Also what outlives the semaphore, for good. */
    private void destroyTokens(String name) throws Exception {
      locks.admin().tokenSemaphore(name).destroy();
      try (Connection connection = factory.newConnection("bench end")) {
        Channel channel = connection.createChannel();
        for (String rest : List.of(".record", ".ledger")) {
          channel.queueDelete(prefix + "token-semaphore." + name + rest);
        }
      }
    }

    private GuardedCalls calls(String scenarios) {
      return calls.computeIfAbsent(
          scenarios,
          name ->
              new GuardedCalls(
                  factory,
                  prefix,
                  name(Kind.MUTEX_ANNOTATED, name),
                  name(Kind.CLASSIC_TOKENS_ANNOTATED, name)));
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
