package io.amqplocks.prover.driver;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.function.Consumer;

/** The locks of a {@link Driver} that is connected to a broker, by the core of today. */
final class OpenedLocks implements AutoCloseable {

  /** How long tokens in use may take to come back. No load holds one for longer. */
  private static final Duration WITHDRAWAL = Duration.ofSeconds(10);

  private final AmqpLocks locks;
  private final ConnectionFactory factory;
  private final String prefix;

  private OpenedLocks(AmqpLocks locks, ConnectionFactory factory, String prefix) {
    this.locks = locks;
    this.factory = factory;
    this.prefix = prefix;
  }

  /** Connects; a heartbeat has that many seconds. */
  static OpenedLocks open(String uri, String prefix, int seconds)
      throws GeneralSecurityException, URISyntaxException {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(uri);
    factory.setRequestedHeartbeat(seconds);
    Duration heartbeat = Duration.ofSeconds(seconds);
    AmqpLocks opened =
        AmqpLocks.builder(factory)
            .heartbeat(heartbeat)
            .callTimeout(heartbeat)
            .queuePrefix(prefix)
            .connectionName("prover")
            .build();
    try {
      opened.connect();
    } catch (LockException e) {
      opened.close();
      throw e;
    }
    return new OpenedLocks(opened, factory, prefix);
  }

  void create(LockRef lock, int slots) {
    CoreLocks.create(locks, lock, slots);
  }

  void resize(LockRef lock, int slots) throws InterruptedException {
    CoreLocks.resize(locks, lock, slots, WITHDRAWAL);
  }

  void work(Command command, LockRef ref, Consumer<Event> out) throws InterruptedException {
    AmqpLock lock = locks.lock(CoreLocks.id(ref, command.reads()));
    lock = command.fenced() && !ref.kind().isFenced() ? lock.fenced() : lock;
    lock = command.permits() > 1 ? lock.withPermits(command.permits()) : lock;
    if (ref.kind().consumes()) {
      boolean hasActiveQueue = ref.kind() == LockRef.Kind.ACTIVE_QUEUE;
      ConsumedQueue queue = ConsumedQueue.of(prefix, ref);
      new ConsumerWorker(command, lock, factory, queue, hasActiveQueue, out).work();
    } else {
      new Worker(command, lock, out).work();
    }
  }

  @Override
  public void close() {
    locks.close();
  }
}
