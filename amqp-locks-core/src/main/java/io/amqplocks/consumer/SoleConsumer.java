package io.amqplocks.consumer;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.LeaderElectionBuilder;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes a queue while it holds a mutex. Of all processes that do so, one is active and the
 * others stand by. The queue is an ordinary durable queue, which outlives its consumers. It keeps
 * all messages while nobody is active.
 *
 * <pre>{@code
 * try (SoleConsumer consumer =
 *     SoleConsumer.of(locks.mutex("orders"), connectionFactory, "orders", delivery -> book(delivery))
 *         .build()) {
 *   consumer.start();
 *   ...
 * }
 * }</pre>
 *
 * <p>Each message is handled at least once, in the order of the queue, by one process at a time as
 * {@link LeaderElection} promises it. Before each message the consumer checks that it is certainly
 * active. If it is not, it begins no message and gives back those that were sent ahead.
 *
 * <p>The order across a takeover is not promised for quorum queues. They may give the next consumer
 * later messages before those that were sent ahead to the last one; a {@linkplain
 * SoleConsumerBuilder#prefetch prefetch} of one avoids that. Nor is it promised after a loss, when
 * the old handler may still have a message.
 *
 * <p>That each message is handled exactly once is not promised. If a consumer dies after it handled
 * a message and before the broker received the acknowledgement, the next one handles the message
 * again. And after a loss the old handler may still work on its message when the next consumer has
 * begun with later ones. A resource that this could harm must check the {@linkplain
 * Delivery#fencingToken() fencing token}.
 *
 * <p>Each term has connections of its own, so no error with a delivery harms a lease. It consumes
 * exclusively: on a classic queue the broker refuses other consumers meanwhile, even those that do
 * not use the lock. Quorum queues do not refuse them.
 */
public final class SoleConsumer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SoleConsumer.class);

  /** For the consumer's connection to close, beside the handler's time. */
  private static final Duration CLOSE = Duration.ofSeconds(2);

  /**
   * How often the active one is asked to stop. Between others that stand by there is one each time.
   */
  private static final long ASK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final HandOverRequests requests;
  private final StandBy standBy;
  private final Terms terms;
  private final LeaderElection election;
  private final SoleConsumerBuilder settings;

  /** Whether the broker has what this consumer needs, or did not answer when it was to start. */
  private volatile boolean accepted;

  SoleConsumer(SoleConsumerBuilder settings) {
    this.settings = settings;
    accepted = !settings.needsMoreThanQueues();
    requests = new HandOverRequests(settings.queue);
    standBy = new StandBy(settings);
    terms = new Terms(settings, standBy, requests, this::handOver);
    LeaderElectionBuilder builder =
        LeaderElection.on(settings.lock)
            .grace(settings.grace.plus(CLOSE))
            .listener(terms)
            .task(terms::awaitEnd);
    settings.listeners.forEach(builder::listener);
    election = builder.build();
  }

  /**
   * Begins the settings of a consumer.
   *
   * @param lock a mutex of any kind; all processes that give the same one take turns
   * @param factory how to connect. It is copied. Its automatic recovery and its executors have
   *     no effect, nor have its traffic and write listeners and what only NIO or Netty would read:
   *     this consumer shares no thread with the application's connections. Set TLS by {@code
   *     useSslProtocol} or {@code setSslContextFactory}. Its connection timeout and its heartbeat
   *     are limited to 10 seconds; one that is turned off becomes 10 seconds. The next consumer
   *     cannot consume before the broker notices that the last one is dead
   * @param queue the queue, which must exist when this consumer is active; no stream, and no
   *     classic queue with {@code x-single-active-consumer}
   * @param handler handles the messages
   * @throws LockException.Invalid if the lock is a semaphore, or the queue's name is empty or
   *     longer than 255 bytes
   */
  public static SoleConsumerBuilder of(
      AmqpLock lock, ConnectionFactory factory, String queue, DeliveryHandler handler) {
    return new SoleConsumerBuilder(lock, factory, queue, handler);
  }

  /**
   * Stands by, and consumes when it is this process's turn. Starting again does nothing. Returns at
   * once; with {@linkplain SoleConsumerBuilder#activeQueue an active queue} or {@linkplain
   * SoleConsumerBuilder#handOverOnRequest() requests to hand over} it opens a connection first, and
   * sees whether the broker has them. That takes as long as the factory allows, 10 seconds at most
   * for each step. A broker that cannot be reached is no reason not to start.
   *
   * @throws IllegalStateException if this consumer is closed
   * @throws LockException.Unsupported if the broker does not have them; nothing is started then
   */
  public void start() {
    requireBroker();
    election.start();
    if (!isActive()) {
      standBy.prepare();
    }
  }

  /**
   * Starts if no other consumer is active. Otherwise this call has no effect.
   *
   * @return whether it started
   * @throws IllegalStateException if this consumer has been started or closed before
   * @throws LockException as {@link #start()} and {@link AmqpLock#tryAcquire()} do
   */
  public boolean tryStart() {
    requireBroker();
    return election.tryStart();
  }

  /** Before the lock is acquired: a holder that cannot consume keeps others from it. */
  private void requireBroker() {
    if (accepted) {
      return;
    }
    try (ReadyConnection open = ReadyConnection.open(settings)) {
      settings.require(BrokerProfile.of(open.connection()));
    } catch (LockException.Unsupported e) {
      throw e;
    } catch (IOException | TimeoutException | RuntimeException e) {
      log.debug("Nobody says what the broker of queue '{}' has", settings.queue, e);
    }
    accepted = true;
  }

  /**
   * The election by which this consumer becomes active, for its listeners and its terms. Start and
   * close this consumer, not the election.
   */
  public LeaderElection election() {
    return election;
  }

  /** Whether this process is certainly the active one. Never blocks, and asks nobody. */
  public boolean isActive() {
    return election.isLeader();
  }

  /**
   * Waits until this process is the active one.
   *
   * @return whether it is; false if the time is over or this consumer was closed before
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public boolean awaitActive(Duration time) throws InterruptedException {
    return election.awaitLeadership(time).isPresent();
  }

  /**
   * Stops consuming, so that the next consumer takes over, and stands by again after two seconds.
   * The handler finishes its message first. Messages that it has not begun go back to the queue.
   * Returns at once.
   *
   * @return whether this process was the active one
   */
  public boolean handOver() {
    return election.yieldLeadership();
  }

  private boolean handOver(String why) {
    return election.yieldLeadership(why);
  }

  /**
   * Starts, and asks the active consumer to hand over until this one is active. The active one
   * finishes its message first, as by {@link #handOver()}. It must allow to be asked ({@link
   * SoleConsumerBuilder#handOverOnRequest()}); otherwise this one stands by. If others have stood
   * by for longer, they become active before this one and are asked too. If this process or the
   * active one dies meanwhile, another one becomes active, as always.
   *
   * @param time how long to wait once this one has started, for which see {@link #start()}; this
   *     one goes on standing by after that. If the broker does not answer, it may take 30 seconds
   *     more, and 10 for each further {@linkplain SoleConsumerBuilder#addresses address}
   * @return whether this one is active
   * @throws IllegalStateException if this consumer is closed, also while this waits
   * @throws LockException.Unsupported as {@link #start()} does
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  public boolean takeOver(Duration time) throws InterruptedException {
    // Before the start, since it may be null.
    long nanos = TimeUnit.NANOSECONDS.convert(Objects.requireNonNull(time, "time"));
    start();
    long end = System.nanoTime() + nanos;
    try (HandOverRequests.Asking asking = requests.new Asking(settings)) {
      while (true) {
        start();
        long left = end - System.nanoTime();
        if (awaitActive(Duration.ofNanos(Math.min(left, ASK_NANOS)))) {
          return true;
        }
        if (left <= 0) {
          return false;
        }
        asking.ask();
      }
    }
  }

  /**
   * Stops consuming for good, as {@link #handOver()} does. Returns when the handler has finished
   * its message and the lock is released, or some seconds after the grace period. A call by the
   * handler returns at once.
   */
  @Override
  public void close() {
    Worker own = terms.workerOn(Thread.currentThread());
    if (own != null) {
      Thread closing = new Thread(this::closeAll, "amqp-locks consumer closing");
      closing.setDaemon(true);
      closing.start();
      // Not before: without that thread the term goes on, and needs its worker.
      own.endAfterThis();
    } else {
      closeAll();
    }
  }

  /**
   * Whether that thread is one that calls {@link DeliveryHandler#handle}, or a listener of the
   * {@linkplain #election() election}, also while it calls none. {@link #close()} does not wait
   * when it is called on such a thread. It is not the thread of {@link
   * DeliveryHandler#interrupted}, which must not close. Any thread may ask, at any time.
   *
   * @param thread the thread, such as the present one
   * @return whether it is one of this consumer's
   */
  public boolean isOwnThread(Thread thread) {
    return terms.workerOn(thread) != null || election.isOwnThread(thread);
  }

  private void closeAll() {
    election.close();
    standBy.close();
    if (!election.isOwnThread(Thread.currentThread())) {
      // A listener that closes this does not hold up the release of the lock.
      terms.awaitClosed();
    }
  }

  /** One worker for each term, on the election's thread. */
  private static final class Terms implements LeaderListener {
    private final SoleConsumerBuilder settings;
    private final StandBy standBy;
    private final HandOverRequests requests;
    private final Predicate<String> handOver;
    private final HandledIds handled = new HandledIds();
    private final AtomicInteger stalls = new AtomicInteger();
    private volatile @Nullable Worker worker;

    Terms(
        SoleConsumerBuilder settings,
        StandBy standBy,
        HandOverRequests requests,
        Predicate<String> handOver) {
      this.settings = settings;
      this.standBy = standBy;
      this.requests = requests;
      this.handOver = handOver;
    }

    /**
     * While the last worker's handler is at work, nobody else's may be called by this process. The
     * {@linkplain #awaitEnd task} sees to that, but is not begun if another listener was slow, and
     * the last term ended meanwhile. Then this term ends at once, so that other processes have
     * their turn.
     */
    @Override
    public void granted(Leadership leadership) {
      Worker last = worker;
      if (last != null && !last.hasHandedBack()) {
        handOver("the handler has not finished its message of the last term");
        return;
      }
      try {
        Worker begun =
            new Worker(settings, standBy, leadership, requests, handled, stalls, this::handOver);
        worker = begun;
        begun.start();
      } catch (Error e) {
        // There is no thread: another process may have one.
        handOver("there is no thread to consume by");
        throw e;
      }
    }

    /**
     * The election's task. It ends when the handler does, so that this process does not become
     * active again while its own handler still works on a message of the last term.
     */
    void awaitEnd(Leadership leadership) {
      Worker present = worker;
      try {
        // It is interrupted at the end of the term.
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        if (present != null) {
          present.awaitHandedBack();
        }
      }
    }

    private void handOver(String why) {
      boolean unused = handOver.test(why);
    }

    void awaitClosed() {
      Worker last = worker;
      if (last != null) {
        last.awaitClosed();
      }
    }

    /** The worker whose handler that thread calls; null if it calls none. */
    @Nullable Worker workerOn(Thread thread) {
      Worker present = worker;
      return present != null && present.isOwnThread(thread) ? present : null;
    }

    @Override
    public void revoked(Leadership leadership, Revocation revocation) {
      Worker ending = worker;
      if (ending != null && ending.isOf(leadership)) {
        ending.stop(revocation, settings.grace);
      }
      standBy.prepareLater();
    }
  }
}
