package io.amqplocks.internal.wakeup;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which object stands for the broker's events. Two for one connection would consume them twice. */
@BrokerTest
class SharedEventsTest {

  private static final int ROUNDS = 500;

  @RegisterExtension private final Fixture fixture = new Fixture();
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

  private static QueueDeletedEvents of(
      Connection connection, AtomicReference<@Nullable QueueDeletedEvents> kept) {
    return QueueDeletedEvents.of(connection, "/", kept);
  }

  @Test
  void twoThreadsThatFindANewConnectionShareOneObject() throws Exception {
    former.abort(1000);
    AtomicReference<@Nullable QueueDeletedEvents> kept = new AtomicReference<>();
    AtomicInteger ready = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      for (int round = 1; round <= ROUNDS; round++) {
        kept.set(null);
        QueueDeletedEvents last = of(former, kept);
        int all = 2 * round;
        Callable<QueueDeletedEvents> finding =
            () -> {
              ready.incrementAndGet();
              while (ready.get() < all) {
                Thread.onSpinWait();
              }
              return of(present, kept);
            };
        List<Future<QueueDeletedEvents>> found = threads.invokeAll(List.of(finding, finding));
        QueueDeletedEvents one = found.get(0).get(30, TimeUnit.SECONDS);
        assertThat(one).as("round %d", round).isNotSameAs(last);
        assertThat(found.get(1).get(30, TimeUnit.SECONDS)).as("round %d", round).isSameAs(one);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aThreadWithAFormerConnectionDoesNotReplaceThePresentObject() throws Exception {
    AtomicReference<@Nullable QueueDeletedEvents> kept = new AtomicReference<>();
    QueueDeletedEvents now = of(present, kept);
    former.abort(1000);
    assertThat(of(former, kept)).isNotSameAs(now);
    assertThat(of(present, kept)).isSameAs(now);
  }
}
