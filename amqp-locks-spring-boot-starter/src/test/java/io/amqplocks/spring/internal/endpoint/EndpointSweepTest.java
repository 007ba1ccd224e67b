package io.amqplocks.spring.internal.endpoint;

import static io.amqplocks.spring.internal.endpoint.EndpointApplication.OPENED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Address;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.tokens.admin.AdminTurn;
import io.amqplocks.internal.tokens.admin.TokenAdministration;
import io.amqplocks.internal.tokens.admin.TokenWithdrawals;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.endpoint.EndpointApplication.Answer;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a POST does that is to remove unused keys. */
@BrokerTest
class EndpointSweepTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  private final Broker broker;
  @AutoClose private final LocksOnBroker onBroker;

  EndpointSweepTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  @Test
  void keysAreFoundAndThoseOfTheLastHourStay() {
    try (EndpointApplication application =
        new EndpointApplication(onBroker, OPENED, "amqp-locks.semaphores.customers.slots=2")) {
      LockTemplate locks = application.bean(LockTemplate.class);
      locks.semaphore("customers", "42").acquire().close();
      locks.semaphore("customers", "43").acquire().close();
      Answer swept = sweep(application, "semaphore/customers", "0s");
      assertThat(swept.status()).as(swept.text()).isEqualTo(200);
      assertThat(swept.<String>read("$.done")).isEqualTo("keys removed: 0, kept: 2");
      assertThat(swept.<String>read("$.next")).contains("a later request");
      await().until(() -> locks.semaphore("customers", "42").tryAcquire().isPresent());
    }
  }

  @Test
  void aKeyThatNobodyUsedSinceTheLastRequestIsRemoved() {
    createYesterday("customers:42");
    createYesterday("customers:43");
    try (EndpointApplication application =
        new EndpointApplication(onBroker, OPENED, "amqp-locks.semaphores.customers.slots=2")) {
      LockTemplate locks = application.bean(LockTemplate.class);
      Answer first = sweep(application, "semaphore/customers", "0s");
      assertThat(first.<String>read("$.done")).isEqualTo("keys removed: 0, kept: 2");
      locks.semaphore("customers", "43").acquire().close();
      Answer second = sweep(application, "semaphore/customers", "0s");
      assertThat(second.status()).as(second.text()).isEqualTo(200);
      assertThat(second.<String>read("$.done")).isEqualTo("keys removed: 1, kept: 1");
      assertThat(onBroker.queues())
          .noneMatch(queue -> queue.contains("customers:42"))
          .anyMatch(queue -> queue.contains("customers:43"));
      // It is made again at its next use.
      locks.semaphore("customers", "42").acquire().close();
    }
  }

  /**
   * Only what was made more than an hour ago is removed. No user can turn the clock of a lock, so
   * this is done with what is inside the core.
   */
  private void createYesterday(String lock) {
    Clock yesterday = Clock.offset(Clock.systemUTC(), Duration.ofDays(-1));
    ExecutorService background = Executors.newCachedThreadPool();
    Connector connector =
        new Connector(
            broker.connectionFactory(),
            List.of(new Address(broker.host(), broker.port())),
            "yesterday",
            LONG,
            LONG,
            Thread::new);
    Sessions sessions =
        new Sessions(
            connector, "holder", background, Thread::new, LONG, Ticker.SYSTEM, session -> {});
    try {
      AdminTurn turn =
          new AdminTurn(
              LockId.tokenSemaphore(lock),
              new QueueNames(onBroker.prefix()),
              sessions,
              LONG,
              Ticker.SYSTEM,
              yesterday,
              LONG);
      new TokenAdministration(turn, new TokenWithdrawals(Thread::new))
          .create(2, TokenQueueType.QUORUM);
    } finally {
      sessions.close();
      background.shutdownNow();
    }
  }

  @Test
  void whatHasNoKeysToSweepIsRefused() {
    try (EndpointApplication application = new EndpointApplication(onBroker, OPENED)) {
      assertThat(sweep(application, "mutex/orders", "24h").status()).isEqualTo(400);
      assertThat(sweep(application, "semaphore/customers:42", "24h").status()).isEqualTo(400);
      Answer two =
          application.post(
              "amqplocks/semaphore/images", "{\"slots\":2,\"sweepKeysUnusedFor\":\"24h\"}");
      assertThat(two.status()).isEqualTo(400);
      assertThat(two.text()).contains("sweepKeysUnusedFor");
      // As 24 ms, nearly all keys would go.
      for (String text : List.of("24", "\"24\"")) {
        Answer unclear =
            application.post(
                "amqplocks/semaphore/images", "{\"sweepKeysUnusedFor\":%s}".formatted(text));
        assertThat(unclear.status()).as(unclear.text()).isEqualTo(400);
        assertThat(unclear.text()).contains("has no unit: write 24s or 24ms");
      }
    }
  }

  private static Answer sweep(EndpointApplication application, String lock, String unused) {
    return application.post(
        "amqplocks/" + lock, "{\"sweepKeysUnusedFor\":\"%s\"}".formatted(unused));
  }
}
