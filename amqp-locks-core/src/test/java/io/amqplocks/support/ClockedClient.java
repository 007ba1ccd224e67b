package io.amqplocks.support;

import com.rabbitmq.client.Address;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.lease.EventDispatcher;
import io.amqplocks.internal.lease.LeaseRegistry;
import io.amqplocks.internal.lease.ReleaseListener;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.test.Broker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/**
 * The sessions and the leases of one client on a real broker, under a clock that the test turns.
 */
public final class ClockedClient implements AutoCloseable {

  private static final Duration BOUND = Duration.ofSeconds(5);

  private final Duration bound;
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
  private final ExecutorService background = Executors.newCachedThreadPool();
  private final EventDispatcher notices;
  private final Sessions sessions;
  private final LeaseRegistry registry;

  /** One that nobody waits in and nobody listens to. */
  public ClockedClient(Broker broker, Duration heartbeat) {
    this(broker, heartbeat, ReleaseListener.NONE, LockListener.NO_OP);
  }

  /**
   * One whose time stands still until it is told to pass.
   *
   * @param waiters who waits for its slots
   */
  public ClockedClient(
      Broker broker, Duration heartbeat, ReleaseListener waiters, LockListener listener) {
    this(broker, "clocked", heartbeat, BOUND, waiters, listener);
  }

  /** One whose connections have a name of their own. */
  public ClockedClient(Broker broker, String name, Duration heartbeat) {
    this(broker, name, heartbeat, BOUND, ReleaseListener.NONE, LockListener.NO_OP);
  }

  /**
   * One whose calls have a bound of their own.
   *
   * @param bound instead of five seconds
   */
  public ClockedClient(Broker broker, Duration heartbeat, Duration bound) {
    this(broker, "clocked", heartbeat, bound, ReleaseListener.NONE, LockListener.NO_OP);
  }

  private ClockedClient(
      Broker broker,
      String name,
      Duration heartbeat,
      Duration bound,
      ReleaseListener waiters,
      LockListener listener) {
    this.bound = bound;
    Connector connector =
        new Connector(
            broker.connectionFactory(),
            List.of(new Address(broker.host(), broker.port())),
            name,
            heartbeat,
            bound,
            Thread::new);
    notices = new EventDispatcher(List.of(listener), LockListener.NO_OP, Thread::new);
    sessions =
        new Sessions(
            connector, "holder", background, Thread::new, bound, clock::get, session -> {});
    registry = new LeaseRegistry(bound, clock::get, notices, background, waiters);
  }

  public void pass(Duration time) {
    clock.addAndGet(time.toNanos());
  }

  public Call call(LockId lock) {
    return Call.on(lock, bound, clock::get);
  }

  public Sessions sessions() {
    return sessions;
  }

  public Session session() {
    return sessions.current(call(LockId.mutex("any")));
  }

  public LeaseRegistry registry() {
    return registry;
  }

  public EventDispatcher notices() {
    return notices;
  }

  /**
   * Tells all that is to be told, and nothing later. A close alone waits for it for a second, and a
   * busy machine may stall for longer.
   */
  public void tellAll() {
    CountDownLatch told = new CountDownLatch(1);
    notices.post(listener -> told.countDown());
    Awaitility.await().until(() -> told.getCount() == 0);
    notices.close();
  }

  /** Ends the connection and all that was to be told. */
  @Override
  public void close() {
    sessions.close();
    notices.close();
    background.shutdownNow();
  }
}
