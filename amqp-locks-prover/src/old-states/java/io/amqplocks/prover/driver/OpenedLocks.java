package io.amqplocks.prover.driver;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.TokenQueueType;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The locks of a {@link Driver} that is connected to a broker, by an old core: the state before a
 * token was a lease only if the record named it ({@code 1be95874^}). Compiled by {@code bin/prove
 * --against} in place of today's class, where that one does not compile. Other commits will do as
 * long as their API is that one.
 *
 * <p>What that core calls a mutex is called an exclusive-queue mutex today. Its persistent mutex is
 * held by an exclusive consumer, on a queue that the prover's observer refuses, so it is left out.
 */
final class OpenedLocks implements AutoCloseable {

  /** How long tokens in use may take to come back. No load holds one for longer. */
  private static final Duration WITHDRAWAL = Duration.ofSeconds(10);

  private final AmqpLocks locks;

  private OpenedLocks(AmqpLocks locks) {
    this.locks = locks;
  }

  /** That core connects at the first call. */
  static OpenedLocks open(String uri, String prefix, int seconds)
      throws GeneralSecurityException, URISyntaxException {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(uri);
    factory.setRequestedHeartbeat(seconds);
    Duration heartbeat = Duration.ofSeconds(seconds);
    return new OpenedLocks(
        AmqpLocks.builder(factory)
            .heartbeat(heartbeat)
            .callTimeout(heartbeat)
            .queuePrefix(prefix)
            .connectionName("prover")
            .build());
  }

  void create(LockRef lock, int slots) {
    switch (lock.kind()) {
      case SLOT_SEMAPHORE -> {
        int unused = locks.admin().semaphore(lock.name()).createIfAbsent(slots);
      }
      case CLASSIC_TOKENS -> createTokens(lock, slots, TokenQueueType.CLASSIC);
      case QUORUM_TOKENS -> createTokens(lock, slots, TokenQueueType.QUORUM);
      default -> throw new UnsupportedOperationException("Not made here: " + lock);
    }
  }

  private void createTokens(LockRef lock, int slots, TokenQueueType type) {
    int unused = locks.admin().tokenSemaphore(lock.name()).createIfAbsent(slots, type);
  }

  void resize(LockRef lock, int slots) throws InterruptedException {
    if (lock.kind() == LockRef.Kind.SLOT_SEMAPHORE) {
      var unused = locks.admin().semaphore(lock.name()).resize(slots);
      return;
    }
    var unused = locks.admin().tokenSemaphore(lock.name()).resize(slots);
    if (!locks.admin().tokenSemaphore(lock.name()).awaitWithdrawn(WITHDRAWAL)) {
      throw new IllegalStateException("Tokens of " + lock + " are left to be withdrawn");
    }
  }

  /** It acquires one permit at a time. */
  void work(Command command, LockRef ref, Consumer<Event> out) throws InterruptedException {
    AmqpLock lock = lock(ref);
    if (command.permits() > 1) {
      throw new UnsupportedOperationException("Several permits at once");
    }
    boolean asks = command.fenced() && !ref.kind().isFenced();
    new Worker(command, asks ? lock.fenced() : lock, out).work();
  }

  private AmqpLock lock(LockRef ref) {
    return switch (ref.kind()) {
      case EXCLUSIVE_QUEUE_MUTEX -> locks.mutex(ref.name());
      case FENCED_MUTEX -> locks.fencedMutex(ref.name());
      case SLOT_SEMAPHORE -> locks.semaphore(ref.name());
      case CLASSIC_TOKENS, QUORUM_TOKENS -> locks.tokenSemaphore(ref.name());
      default -> throw new UnsupportedOperationException("Not the " + ref.kind() + " of today");
    };
  }

  @Override
  public void close() {
    locks.close();
  }
}
