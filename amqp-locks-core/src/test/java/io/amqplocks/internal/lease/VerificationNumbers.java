package io.amqplocks.internal.lease;

import com.rabbitmq.client.Address;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Connector;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/**
 * What a pass over all leases of a session takes, one after the other and as {@link LeaseBook} does it,
 * in turns; printed and not judged. Run it by name.
 */
@BrokerTest
class VerificationNumbers {

  private static final int LEASES = 2_000;
  private static final Duration BOUND = Duration.ofSeconds(10);

  @Test
  void print(Broker broker) throws Exception {
    Fixture fixture = new Fixture(broker);
    ExecutorService background = Executors.newFixedThreadPool(16);
    Notices notices = new Notices(List.of(), LockListener.NO_OP, Thread::new);
    Connector connector =
        new Connector(
            broker.connectionFactory(),
            List.of(new Address(broker.host(), broker.port())),
            "numbers",
            BOUND,
            BOUND,
            Thread::new);
    Sessions sessions =
        new Sessions(
            connector, "holder", background, Thread::new, BOUND, Ticker.SYSTEM, session -> {});
    LeaseBook book = new LeaseBook(BOUND, Ticker.SYSTEM, notices, background, Waiters.NONE);
    List<HeldLease> leases = new ArrayList<>();
    Session session = sessions.current(call("first"));
    for (int i = 0; i < LEASES; i++) {
      String name = "m" + i;
      leases.add(
          book.take(
                  call(name),
                  session,
                  new QueueHolding(LockId.mutex(name), 1, fixture.prefix() + name, null))
              .orElseThrow());
    }
    List<Double> one = new ArrayList<>();
    List<Double> many = new ArrayList<>();
    for (int round = 0; round < 15; round++) {
      one.add(millis(() -> leases.forEach(HeldLease::check)));
      many.add(millis(() -> book.verify(session).join()));
    }
    Collections.sort(one);
    Collections.sort(many);
    System.out.printf(
        "RabbitMQ %s: a pass over %d mutexes, p50: one by one %.0f ms, many at a time %.0f ms%n",
        broker.version(), LEASES, one.get(7), many.get(7));
    sessions.close();
    notices.close();
    background.shutdown();
    fixture.close();
  }

  private static Call call(String name) {
    return Call.on(LockId.mutex(name), BOUND, Ticker.SYSTEM);
  }

  private static double millis(Runnable task) {
    long start = System.nanoTime();
    task.run();
    return (System.nanoTime() - start) / 1e6;
  }
}
