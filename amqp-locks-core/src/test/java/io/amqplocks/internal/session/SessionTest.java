package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The end of a session for which the system starts no thread now. */
@BrokerTest
class SessionTest {

  private static final Duration BOUND = Duration.ofSeconds(5);
  private static final LossReason REASON =
      new LossReason(LossReason.Cause.SESSION_ENDED, "by the test");

  private final ExecutorService pool = Executors.newSingleThreadExecutor();
  private final AtomicInteger asked = new AtomicInteger();
  private Connector connector;
  private final List<Connection> connections = new ArrayList<>();

  @BeforeEach
  void prepare(Broker broker) {
    connector =
        new Connector(
            broker.connectionFactory(),
            List.of(new Address(broker.host(), broker.port())),
            "session",
            Duration.ofSeconds(10),
            BOUND,
            SessionTest::thread);
  }

  /** Awaitility in other tests would take what ends it for its own. */
  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task);
    thread.setUncaughtExceptionHandler((same, error) -> {});
    return thread;
  }

  @AfterEach
  void close() {
    connections.forEach(Connection::abort);
    pool.shutdownNow();
  }

  /** With an open prober. The system refuses the given ones of the threads that it asks for. */
  private Session session(Executor background, int firstRefused, int lastRefused) throws Exception {
    Connection holder = connector.open("holder");
    connections.add(holder);
    Session session =
        new Session(
            holder,
            connector,
            background,
            task -> {
              int number = asked.incrementAndGet();
              if (number >= firstRefused && number <= lastRefused) {
                throw new OutOfMemoryError("unable to create native thread, says the test");
              }
              return new Thread(task);
            },
            BOUND,
            Ticker.SYSTEM);
    Call call = Call.on(LockId.mutex("m"), BOUND, Ticker.SYSTEM);
    connections.add(session.prober().open(call).connection());
    return session;
  }

  /** The first thread is for the connection of the leases, and three are for the others. */
  @ParameterizedTest
  @CsvSource({"1, 1", "1, 4", "2, 4"})
  void leavesNoConnectionOpen(int firstRefused, int lastRefused) throws Exception {
    Session session = session(pool, firstRefused, lastRefused);
    assertThatCode(() -> session.end(REASON)).doesNotThrowAnyException();
    await().until(() -> connections.stream().noneMatch(Connection::isOpen));
  }

  @Test
  void theCloseDoesWhatNobodyHasDoneYet() throws Exception {
    Queue<Runnable> later = new ConcurrentLinkedQueue<>();
    Session session = session(later::add, 1, 1);
    assertThatCode(() -> session.end(REASON)).doesNotThrowAnyException();
    assertThat(connections).hasSize(2).allMatch(Connection::isOpen);
    session.close();
    assertThat(connections).noneMatch(Connection::isOpen);
    assertThat(later).hasSize(1).allSatisfy(Runnable::run);
  }

  /** Whoever is to verify the leases needs a thread, and a session without that is of no use. */
  @Test
  void aSessionThatNobodyCanWatchIsClosed(Broker broker) {
    Sessions sessions =
        new Sessions(
            connector,
            "unwatched",
            pool,
            Thread::new,
            BOUND,
            Ticker.SYSTEM,
            opened -> {
              throw new OutOfMemoryError("unable to create native thread, says the test");
            });
    Call call = Call.on(LockId.mutex("m"), BOUND, Ticker.SYSTEM);
    assertThatThrownBy(() -> sessions.current(call)).hasRootCauseInstanceOf(OutOfMemoryError.class);
    await().until(() -> !broker.faults().connections().contains("session unwatched"));
  }
}
