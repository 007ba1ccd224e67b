package io.amqplocks.benchmarks.peers;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
    lab.persistentMutex(locks, name);
    lab.semaphore(locks, name, Kind.SLOT_SEMAPHORE.slots());
    for (Kind kind : List.of(Kind.CLASSIC_TOKENS, Kind.QUORUM_TOKENS)) {
      String tokens = tokens(kind, name);
      lab.tokens(admin -> admin.tokenSemaphore(tokens), "token-semaphore." + tokens);
      locks
          .admin()
          .tokenSemaphore(tokens)
          .create(
              kind.slots(),
              kind == Kind.CLASSIC_TOKENS ? TokenQueueType.CLASSIC : TokenQueueType.QUORUM);
    }
    lab.tokens(admin -> admin.fencedMutex(name), "fenced-mutex." + name);
    // Its first acquire creates it.
    locks.fencedMutex(name).tryAcquire().orElseThrow().close();
  }

  private static String tokens(Kind kind, String name) {
    return name + (kind == Kind.CLASSIC_TOKENS ? "-classic" : "-quorum");
  }

  static PeerClient connect(String address) throws Exception {
    int fragment = address.lastIndexOf('#');
    ConnectionFactory factory = Lab.factory(address.substring(0, fragment));
    return connect(factory, address.substring(fragment + 1));
  }

  static PeerClient connect(ConnectionFactory factory, String prefix) {
    AmqpLocks locks =
        AmqpLocks.builder(factory).queuePrefix(prefix).connectionName("bench").build();
    return new PeerClient() {
      @Override
      public PeerLock lock(Kind kind, String name) {
        AmqpLock lock =
            switch (kind) {
              case MUTEX -> locks.mutex(name);
              case PERSISTENT_MUTEX -> locks.persistentMutex(name);
              case FENCED_MUTEX -> locks.fencedMutex(name);
              case WRITE_LOCK -> locks.readWriteLock(name).writeLock();
              case SLOT_SEMAPHORE -> locks.slotSemaphore(name);
              case CLASSIC_TOKENS, QUORUM_TOKENS -> locks.tokenSemaphore(tokens(kind, name));
              default -> throw new IllegalArgumentException("Not ours: " + kind);
            };
        return wait -> acquire(lock, wait);
      }

      @Override
      public void close() {
        locks.close();
      }
    };
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
