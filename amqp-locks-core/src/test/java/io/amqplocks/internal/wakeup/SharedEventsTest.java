package io.amqplocks.internal.wakeup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which object stands for the broker's events. Two for one connection would consume them twice. */
@BrokerTest
class SharedEventsTest {

  private static final int ROUNDS = 500;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final ConcurrentMap<Connection, QueueDeletedEvents> all = new ConcurrentHashMap<>();
  private Connection former;
  private Connection present;

  @BeforeEach
  void open(Broker broker) throws Exception {
    former = broker.connectionFactory().newConnection("former");
    present = broker.connectionFactory().newConnection("present");
  }

  @AfterEach
  void close() {
    former.abort(1000);
    present.abort(1000);
  }

  private QueueDeletedEvents of(Connection connection) {
    return QueueDeletedEvents.of(connection, "/", all);
  }

  @Test
  void twoThreadsThatFindANewConnectionShareOneObject() throws Exception {
    AtomicInteger ready = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int round = 1; round <= ROUNDS; round++) {
        all.clear();
        int both = 2 * round;
        Callable<QueueDeletedEvents> finding =
            () -> {
              ready.incrementAndGet();
              while (ready.get() < both) {
                Thread.onSpinWait();
              }
              return of(present);
            };
        List<Future<QueueDeletedEvents>> found = threads.invokeAll(List.of(finding, finding));
        assertThat(found.get(1).get(30, TimeUnit.SECONDS))
            .as("round %d", round)
            .isSameAs(found.get(0).get(30, TimeUnit.SECONDS));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** A connection that was replaced stays open for a while. Both are used then. */
  @Test
  void eachOfTwoOpenConnectionsHasOneObject() {
    QueueDeletedEvents old = of(former);
    QueueDeletedEvents next = of(present);
    assertThat(next).isNotSameAs(old);
    assertThat(of(former)).isSameAs(old);
    assertThat(of(present)).isSameAs(next);
  }

  @Test
  void aClosedConnectionHasNone() throws Exception {
    QueueDeletedEvents unused = of(former);
    unused = of(present);
    former.close(1000);
    // The client tells listeners by its own thread, which may be after close() returned.
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(all).containsOnlyKeys(present));
    unused = of(former);
    assertThat(all).as("used by a thread that was late").containsOnlyKeys(present);
  }
}
